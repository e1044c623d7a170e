// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Traces written as PyTorch snapshots and imported again.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "storage/base/part_file.h"
#include "storage/convert/pytorch_snapshot.h"
#include "storage/import/import.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/trace_equality.h"

namespace tidemark {
namespace {

using namespace test;

/// Gives stacks, streams, pools and contexts of several traces common numbers, because those of a trace depend on the
/// order in which a snapshot has them.
class CommonNumbers {
public:
    void renumber(Trace& trace) {
        for (DeviceHistory& device : trace.devices) {
            for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
                renumber_stack(trace, device.allocations.stack[a]);
                renumber_stack(trace, device.allocations.free_stack[a]);
                renumber_origin(trace, device.allocations.origin[a]);
            }
            for (Segment& segment : device.segments) {
                segment.stream = number_of(streams_, trace.streams[segment.stream].handle);
                const auto& owner = trace.pools[segment.pool].owner;
                segment.pool = number_of(pools_, std::pair(owner[0], owner[1]));
                renumber_stack(trace, segment.stack);
                renumber_stack(trace, segment.free_stack);
            }
            for (OtherEvent& other : device.others) {
                renumber_stack(trace, other.stack);
                renumber_origin(trace, other.origin);
            }
        }
    }

private:
    void renumber_stack(const Trace& trace, StackId& stack) {
        const StackTable& table = trace.stacks;
        std::vector<FrameId> frames;
        for (const FrameId id : table.frames_of(stack)) {
            const Frame& frame = table.frame(id);
            frames.push_back(stacks_.intern(Frame{stacks_.intern(table.string(frame.function)),
                                                  stacks_.intern(table.string(frame.file)), frame.line}));
        }
        stack = stacks_.intern_stack(frames);
    }
    void renumber_origin(const Trace& trace, uint32_t& index) {
        const Origin& origin = trace.origins[index];
        index = number_of(origins_, std::pair(origin.compile_context, origin.user_metadata));
    }
    template <class Key>
    uint32_t number_of(std::map<Key, uint32_t>& numbers, const Key& key) {
        return numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
    }

    StackTable stacks_;
    std::map<uint64_t, uint32_t> streams_;
    std::map<std::pair<int64_t, int64_t>, uint32_t> pools_;
    std::map<std::pair<std::string, std::string>, uint32_t> origins_;
};

std::shared_ptr<Trace> read(const std::string& path) {
    Progress progress;
    auto trace = read_snapshot_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return *trace;
}

std::shared_ptr<Trace> written_and_read(const std::shared_ptr<const Trace>& trace, const std::string& path) {
    std::vector<std::unique_ptr<Analysis>> analyses;
    std::vector<const Analysis*> devices;
    for (const DeviceHistory& device : trace->devices) {
        devices.push_back(analyses.emplace_back(std::make_unique<Analysis>(trace, device)).get());
    }
    std::string pickle;
    EXPECT_TRUE(write_pytorch_snapshot(devices, [&](std::string_view bytes) {
        pickle += bytes;
        return Status();
    }));
    EXPECT_TRUE(write_file(path, pickle));
    return read(path);
}

TEST(PytorchSnapshot, AnImportedTraceComesBackEqual) {
    const TemporaryFolder folder;
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(TIDEMARK_TEST_DATA "/snapshots")) {
        const std::string name = file.path().filename().string();
        if (name.find(".pickle") == std::string::npos) {
            continue;
        }
        SCOPED_TRACE(name);
        ++count;
        const auto before = read(file.path().string());
        const auto after = written_and_read(before, folder / "again.pickle");
        CommonNumbers numbers;
        numbers.renumber(*before);
        numbers.renumber(*after);
        EXPECT_EQ(before->start_utc_ns, after->start_utc_ns);
        EXPECT_EQ(before->settings, after->settings);
        expect_same_rows(before->annotations, after->annotations, "annotation");
        expect_same_rows(before->data_gaps, after->data_gaps, "data gap");
        ASSERT_EQ(before->devices.size(), after->devices.size());
        for (size_t d = 0; d < before->devices.size(); ++d) {
            expect_same_device(before->devices[d], after->devices[d]);
        }
    }
    EXPECT_GT(count, 20u);
}

TEST(PytorchSnapshot, TheErrorOfTheReceiverEndsIt) {
    const auto trace = read(TIDEMARK_TEST_DATA "/snapshots/two_gpus.pickle");
    const Analysis analysis(trace, trace->devices.front());
    const Analysis* device = &analysis;
    int calls = 0;
    const Status written = write_pytorch_snapshot({&device, 1}, [&](std::string_view) {
        ++calls;
        return Status(canceled_error());
    });
    EXPECT_FALSE(written);
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tidemark
