// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rows that an event folder writes for steps whose events it does not write.
#include <gtest/gtest.h>

#include <map>

#include "storage/allocator/event_folder.h"

namespace tidemark::test {
namespace {

constexpr uint64_t MiB = 1 << 20;
constexpr uint64_t small_segment_at = 0x10'0000'0000, large_segment_at = 0x20'0000'0000;
constexpr uint64_t output = 16'384'000;

/// Counts the rows that show no free, by requested bytes.
class Rows final : public FoldSink {
public:
    std::map<uint64_t, int> shown;
    std::vector<int64_t> freed_at;

    LifetimeId created(const AllocationRow& row) override {
        requested_.push_back(row.lifetime.requested);
        ++shown[row.lifetime.requested];
        return static_cast<LifetimeId>(requested_.size() - 1);
    }
    void free_requested(LifetimeId lifetime, FileEvent, int64_t time, StackId) override {
        --shown[requested_[lifetime]];
        freed_at.push_back(time);
    }
    void free_completed(const LiveAllocation&, FileEvent, int64_t) override {}
    uint32_t segment_added(const FileSegment&, int64_t) override { return 0; }
    void segment_removed(uint32_t, const SegmentEnd&) override {}
    bool can_cut_segments() const override { return true; }
    uint32_t cut_segment(uint32_t position, uint64_t) override { return position; }
    void other_event(const FileOtherEvent&, int64_t, uint32_t) override {}

private:
    std::vector<uint64_t> requested_;
};

AllocatorEvent event(Action action, int64_t time, uint64_t address, uint64_t size) {
    AllocatorEvent made;
    made.action = action;
    made.time = time;
    made.address = address;
    made.size = size;
    return made;
}

TEST(UnwrittenSteps, ARowEndsWhenItsSuccessorLiesInABlockOfAnotherSize) {
    Rows rows;
    const AllocatorSettings settings;
    EventFolder folder(settings, rows);
    // The rest of the small segment is not split off, so the first output's block has all of it.
    folder.apply(event(Action::segment_alloc, 1, small_segment_at, 16 * MiB));
    folder.apply(event(Action::segment_alloc, 2, large_segment_at, 80 * MiB));
    folder.apply(event(Action::alloc, 10, small_segment_at, output));
    folder.apply_unwritten(event(Action::alloc, 20, large_segment_at, output));
    EXPECT_TRUE(folder.write_survivors(20));
    folder.apply_unwritten(event(Action::free_requested, 30, small_segment_at, output));
    folder.apply_unwritten(event(Action::free_completed, 31, small_segment_at, output));
    folder.apply_unwritten(event(Action::alloc, 32, large_segment_at + output, 32 * MiB));
    EXPECT_TRUE(folder.write_survivors(30));
    EXPECT_EQ(rows.shown[output], 1);
    EXPECT_EQ(rows.freed_at, std::vector<int64_t>{20}) << "when the row of the second output begins";
    EXPECT_EQ(folder.inconsistent(), 0);
}

}  // namespace
}  // namespace tidemark::test
