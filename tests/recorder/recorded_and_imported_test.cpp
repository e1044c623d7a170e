// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records and imports the same program: both traces must have the same counters after every event.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "recorder/daemon/device_replay.h"
#include "storage/analysis/analysis.h"
#include "storage/import/import.h"
#include "storage/import/snapshot_reader.h"
#include "storage/read/open_trace.h"

namespace tidemark::recorder {
namespace {

namespace fs = std::filesystem;

/// Statistics replay the events since their last checkpoint, so a comparison at every event of a long run would take
/// minutes.
constexpr EventNumber most_states_compared = 400;

std::vector<std::string> snapshots() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(TIDEMARK_TEST_DATA "/snapshots")) {
        if (entry.path().extension() == ".pickle") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Returns the state that the importer derived for the time before the first event. A recorder gets it from PyTorch.
AllocatorState start_of(const DeviceHistory& device) {
    AllocatorState state;
    for (const Segment& segment : device.segments) {
        if (segment.alloc_event == before_history) {
            state.segments[segment.address] = {segment.size,
                                               {segment.stream, segment.pool, segment.is_large, segment.is_expandable}};
        }
    }
    const Allocations& allocations = device.allocations;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] == before_history; ++a) {
        state.blocks[allocations.address[a]] = {allocations.block_size[a], allocations.requested[a],
                                                allocations.free_event[a] == before_history};
    }
    return state;
}

/// Copies all entries to an empty table, so that ids stay the same.
void copy_stacks(const StackTable& from, StackTable& to) {
    for (StringId i = 1; i < from.string_count(); ++i) {
        to.intern(from.string(i));
    }
    for (FrameId i = 1; i < from.frame_count(); ++i) {
        to.intern(from.frame(i));
    }
    for (StackId i = 1; i < from.stack_count(); ++i) {
        to.intern(from.stack(i));
    }
}

class RecordedAndImported : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        path_ = (fs::temp_directory_path() /
                 ("tidemark_recorded_" + std::to_string(::getpid()) + "_" + GetParam() + ".tide"))
                    .string();
        const std::string file = std::string(TIDEMARK_TEST_DATA "/snapshots/") + GetParam() + ".pickle";
        auto snapshot = read_snapshot_file(file, progress_);
        ASSERT_TRUE(snapshot) << snapshot.error().sentence.english();
        snapshot_ = std::move(*snapshot);
        const auto imported = read_snapshot_trace(file, progress_);
        ASSERT_TRUE(imported) << imported.error().sentence.english();
        imported_ = *imported;
    }
    void TearDown() override { fs::remove(path_); }

    /// Passes the events of one device to the recorder's code. A recorder does not receive whether memory belongs to
    /// the pool of small or large requests.
    std::shared_ptr<const Trace> record(const DeviceHistory& device) {
        Trace head;
        head.settings = snapshot_.settings;
        auto writer = StreamingWriter::create(path_, IfExists::replace, head);
        EXPECT_TRUE(writer) << writer.error().sentence.english();
        copy_stacks(imported_->stacks, writer->stacks());
        for (const Stream& stream : imported_->streams) {
            writer->stream(stream.handle);
        }
        for (const Pool& pool : imported_->pools) {
            writer->pool(pool.owner[0], pool.owner[1]);
        }
        writer->device(device.device, "", 0, "");
        DeviceReplay replay(device.device, *writer, AllocatorSettings::from_text(snapshot_.settings), start_of(device));
        const auto& events = snapshot_.traces.at(static_cast<size_t>(device.device));
        for (size_t i = 0; i < events.size(); ++i) {
            AllocatorEvent event;
            event.action = events[i].action;
            event.unknown_name = "unknown";
            event.time = device.event_time[i];
            event.address = events[i].address;
            event.size = events[i].size;
            event.stream = events[i].stream;
            event.stack = events[i].stack;
            const EventRef ref = device.event_ref[i];
            if (ref.action() >= Action::segment_alloc && ref.action() <= Action::segment_unmap) {
                event.pool = device.segments.at(ref.index()).pool;
            }
            replay.apply(event);
        }
        EXPECT_EQ(0, replay.inconsistent());
        writer->progress_of(device.device, replay.events(), replay.peak_event());
        EXPECT_TRUE(writer->commit(imported_->duration));
        EXPECT_TRUE(writer->finish(imported_->duration, true));
        auto recorded = open_trace(path_, progress_);
        EXPECT_TRUE(recorded) << recorded.error().sentence.english();
        return recorded ? *recorded : nullptr;
    }

    Progress progress_;
    std::string path_;
    Snapshot snapshot_;
    std::shared_ptr<const Trace> imported_;
};

TEST_P(RecordedAndImported, HaveEqualCounters) {
    for (const DeviceHistory& device : imported_->devices) {
        SCOPED_TRACE(device.device);
        if (static_cast<size_t>(device.device) >= snapshot_.traces.size()) {
            continue;  // segments without events
        }
        const auto recorded_trace = record(device);
        ASSERT_TRUE(recorded_trace);
        ASSERT_EQ(1u, recorded_trace->devices.size());
        const Analysis imported(imported_, device), recorded(recorded_trace, recorded_trace->devices.front());
        const EventNumber count = device.event_count();
        ASSERT_EQ(count, recorded.device().event_count());
        for (EventNumber n = 0; n <= count; ++n) {
            for (int s = 0; s < series_count; ++s) {
                const auto series = static_cast<Series>(s);
                ASSERT_EQ(imported.curves().value(series, n), recorded.curves().value(series, n))
                    << "series " << s << " after " << n << " events";
            }
        }
        const EventNumber stride = std::max(1, count / most_states_compared);
        for (EventNumber n = 0; n <= count; n += stride) {
            ASSERT_TRUE(imported.statistics().at(n) == recorded.statistics().at(n)) << "after " << n << " events";
        }
        EXPECT_TRUE(imported.statistics().at(count) == recorded.statistics().at(count));
        EXPECT_EQ(imported.curves().peak(Series::allocated).max_event,
                  recorded.curves().peak(Series::allocated).max_event);
    }
}

INSTANTIATE_TEST_SUITE_P(Snapshots, RecordedAndImported, testing::ValuesIn(snapshots()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace tidemark::recorder
