// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/line_memory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "storage/attribution/source_file.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

constexpr const char* linear = "/home/anna/venv/lib/python3.12/site-packages/torch/nn/linear.py";
constexpr const char* train = "/home/anna/project/train.py";

class LineMemoryOf : public testing::Test {
protected:
    LineMemoryOf() { trace.devices.emplace_back(); }

    FrameId frame(const char* file, int32_t line, const char* function = "f") {
        return trace.stacks.intern(Frame{trace.stacks.intern(function), trace.stacks.intern(file), line});
    }
    /// Adds an allocation that exists from event `number` to the end, or to event `freed`. Innermost frame first.
    AllocationIndex allocate(uint64_t bytes, const std::vector<FrameId>& frames, EventNumber freed = never) {
        DeviceHistory& device = trace.devices.front();
        const EventNumber number = static_cast<EventNumber>(device.allocations.size());
        return test::add_allocation(device, number, freed, freed, 0x100000, bytes, bytes,
                                    frames.empty() ? 0 : trace.stacks.intern_stack(frames));
    }
    SourceMemory memory(TimePoint point, const LineMemoryRequest& request = {}) const {
        const DeviceHistory& device = trace.devices.front();
        LineMemoryRequest at = request;
        at.point = point;
        return memory_by_line(trace, device, AliveIndex(device.allocations), at);
    }
    LineBytes line(const SourceMemory& memory, const char* file, int32_t number) {
        const FileMemory* found = memory.find(trace.stacks.intern(file));
        for (const LineMemory& each : found == nullptr ? std::vector<LineMemory>() : found->lines) {
            if (each.line == number) {
                return each.bytes;
            }
        }
        return {};
    }

    Trace trace;
};

TEST_F(LineMemoryOf, EveryLineOfAStackCountsItAndTheInnermostOwnLineHasItAsItsOwn) {
    allocate(100, {frame(linear, 7), frame(train, 20), frame(train, 40)});
    allocate(10, {frame(train, 40)});
    const SourceMemory made = memory(2);
    EXPECT_EQ(line(made, linear, 7).active, 100u);
    EXPECT_EQ(line(made, linear, 7).self, 0u);
    EXPECT_EQ(line(made, train, 20).self, 100u);
    EXPECT_EQ(line(made, train, 40).active, 110u);
    EXPECT_EQ(line(made, train, 40).self, 10u);
    EXPECT_EQ(made.find(trace.stacks.intern(train))->total.active, 110u);
    EXPECT_EQ(made.find(trace.stacks.intern(train))->total.self, 110u);
    EXPECT_EQ(made.total.active, 110u);
}

TEST_F(LineMemoryOf, RecursionCountsOncePerStack) {
    const FrameId again = frame(train, 5);
    allocate(8, {again, frame(train, 6), again, again});
    const SourceMemory made = memory(1);
    EXPECT_EQ(line(made, train, 5).active, 8u);
    EXPECT_EQ(line(made, train, 5).self, 8u);
    EXPECT_EQ(line(made, train, 5).allocations, 1u);
    EXPECT_EQ(line(made, train, 6).active, 8u);
    EXPECT_EQ(made.find(trace.stacks.intern(train))->total.active, 8u);
}

TEST_F(LineMemoryOf, FunctionsOfOneLineAreOneLine) {
    allocate(1, {frame(train, 9, "<lambda>"), frame(train, 9, "main")});
    allocate(2, {frame(train, 9, "main")});
    const SourceMemory made = memory(2);
    ASSERT_EQ(made.files.size(), 1u);
    ASSERT_EQ(made.files.front().lines.size(), 1u);
    EXPECT_EQ(made.files.front().lines.front().bytes.active, 3u);
}

TEST_F(LineMemoryOf, PointPeakRangeAndLeaksAreCountedApart) {
    allocate(1, {frame(train, 1)}, 2);
    const AllocationIndex kept = allocate(20, {frame(train, 1)});
    allocate(300, {frame(train, 1)});
    const std::vector<AllocationIndex> leaked{kept};
    LineMemoryRequest request{{}, 2, std::pair(1, 2), leaked};
    const LineBytes bytes = line(memory(3, request), train, 1);
    EXPECT_EQ(bytes.active, 320u);
    EXPECT_EQ(bytes.peak, 21u);
    EXPECT_EQ(bytes.allocated, 20u);
    EXPECT_EQ(bytes.allocations, 1u);
    EXPECT_EQ(bytes.leaked, 20u);
    request.range.reset();
    EXPECT_EQ(line(memory(3, request), train, 1).allocated, 321u);
    EXPECT_EQ(line(memory(3, request), train, 1).allocations, 3u);
}

TEST_F(LineMemoryOf, OwnFilesAreBeforeLibrariesAndLargeOnesBeforeSmallOnes) {
    allocate(500, {frame(linear, 7)});
    allocate(10, {frame(train, 2)});
    allocate(20, {frame("/home/anna/project/data.py", 3)});
    allocate(1000, {});
    const SourceMemory made = memory(4);
    ASSERT_EQ(made.files.size(), 3u);
    EXPECT_EQ(trace.stacks.string(made.files[0].file), "/home/anna/project/data.py");
    EXPECT_EQ(trace.stacks.string(made.files[1].file), train);
    EXPECT_FALSE(made.files[2].is_own_code);
    EXPECT_EQ(made.total.active, 1530u) << "memory without a stack counts in the total";
}

TEST_F(LineMemoryOf, AllocationsOfALineAreThoseWithItAnywhereOnTheirStack) {
    const AllocationIndex a = allocate(1, {frame(linear, 7), frame(train, 20)});
    allocate(1, {frame(train, 21)});
    const AllocationIndex c = allocate(1, {frame(train, 20, "other"), frame(train, 40)});
    allocate(1, {});
    EXPECT_EQ(allocations_of_line(trace, trace.devices.front(), trace.stacks.intern(train), 20),
              (std::vector<AllocationIndex>{a, c}));
}

TEST_F(LineMemoryOf, TheOwnLineOfAllocationsIsTheOneWithMostBytes) {
    std::vector<AllocationIndex> all{allocate(5, {frame(linear, 7), frame(train, 20)}),
                                     allocate(3, {frame(linear, 8), frame(train, 21)}),
                                     allocate(3, {frame(linear, 9), frame(train, 21)})};
    EXPECT_EQ(trace.stacks.frame(own_line(trace, trace.devices.front(), all)).line, 21);
    EXPECT_EQ(own_line(trace, trace.devices.front(), {}), 0u);
}

class SourceFileOf : public testing::Test {
protected:
    std::string write(const std::string& name, const std::string& text) const {
        const std::string path = folder_ / name;
        std::ofstream(path) << text;
        return path;
    }
    void record(const std::string& file, int32_t number, const std::string& text) {
        trace.source_text.add(file, number, text);
    }

    test::TemporaryFolder folder_;
    Trace trace;
};

TEST_F(SourceFileOf, AFileThatAgreesWithTheTraceIsShownWhole) {
    const std::string path = write("train.py", "import torch\r\nx = 1\ny = 2\n");
    record(path, 2, "x = 1");
    const SourceFile source = read_source(trace, path, path);
    EXPECT_EQ(source.origin, SourceOrigin::checked_file);
    ASSERT_EQ(source.lines.size(), 3u);
    EXPECT_EQ(*source.line(1), "import torch");
    EXPECT_EQ(source.path, path);
}

TEST_F(SourceFileOf, AFileThatDiffersFromTheTraceIsNotShown) {
    const std::string path = write("train.py", "import torch\nx = 5\n");
    record(path, 2, "x = 1");
    const SourceFile source = read_source(trace, path, path);
    EXPECT_EQ(source.origin, SourceOrigin::trace);
    EXPECT_TRUE(source.disagrees);
    EXPECT_EQ(source.line(1), nullptr);
    EXPECT_EQ(*source.line(2), "x = 1");
}

TEST_F(SourceFileOf, AFileThatChangedAfterTheRecordingBeganIsNewer) {
    const std::string path = write("train.py", "x = 1\n");
    trace.start_utc_ns = 1;
    EXPECT_TRUE(read_source(trace, path, path).is_newer);
    EXPECT_EQ(read_source(trace, path, path).origin, SourceOrigin::file);
    trace.start_utc_ns = INT64_MAX;
    EXPECT_FALSE(read_source(trace, path, path).is_newer);
}

TEST_F(SourceFileOf, OnlyRegularFilesWithTheNameOfASourceAreRead) {
    const std::string secret = write("id_rsa", "secret\n");
    EXPECT_EQ(read_source(trace, secret, secret).origin, SourceOrigin::nowhere);
    const std::string pipe = folder_ / "pipe.py";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(read_source(trace, pipe, pipe).origin, SourceOrigin::nowhere);
    EXPECT_FALSE(is_source_file(pipe));
    EXPECT_FALSE(is_source_file(folder_ / ""));
    EXPECT_EQ(read_source(trace, "train.py", "train.py").origin, SourceOrigin::nowhere) << "not absolute";
}

TEST(MovedPath, StaysInTheFolder) {
    EXPECT_EQ(moved_path("/home/anna/project/a/train.py", "/home/anna/project", "/src"), "/src/a/train.py");
    EXPECT_EQ(moved_path("/home/anna/project/train.py", "/home/ann", "/src"), "/home/anna/project/train.py");
    EXPECT_EQ(moved_path("/p/../../etc/x.py", "/p", "/src"), "/p/../../etc/x.py");
    EXPECT_EQ(moved_path("/p/a/../x.py", "/p", "/src"), "/src/x.py");
    EXPECT_EQ(moved_path("/p/x.py", "/", "/src"), "/src/p/x.py");
}

}  // namespace
}  // namespace tidemark
