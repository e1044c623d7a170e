// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Shared by tests of the recorder process: a folder for each test, and queries of the trace.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "storage/read/open_trace.h"
#include "storage/text/data_gap_words.h"
#include "tests/recorder/simulated_program.h"
#include "tests/unit/query_rows.h"

namespace tidemark::test {

namespace fs = std::filesystem;
using recorder::RecorderState;

class Recording : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("tidemark_recording_" + std::to_string(::getpid()) + "_" +
                                               testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        output_ = (folder_ / "run.tide").string();
        setenv("TIDEMARK_WITH", "stacks,ops,modules,driver", 1);  // without nvml: there may be no GPU
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::shared_ptr<const Trace> opened() const {
        Progress progress;
        auto trace = open_trace(output_, progress);
        EXPECT_TRUE(trace) << trace.error().sentence.english();
        return trace ? *trace : nullptr;
    }

    static void expect_truth(const DeviceHistory& truth, const DeviceHistory& trace) {
        EXPECT_EQ(truth.allocations.alloc_event, trace.allocations.alloc_event);
        EXPECT_EQ(truth.allocations.free_event, trace.allocations.free_event);
        EXPECT_EQ(truth.allocations.free_completed, trace.allocations.free_completed);
        EXPECT_EQ(truth.allocations.address, trace.allocations.address);
        EXPECT_EQ(truth.allocations.requested, trace.allocations.requested);
        EXPECT_EQ(truth.allocations.block_size, trace.allocations.block_size);
        EXPECT_TRUE(std::is_sorted(trace.event_time.begin(), trace.event_time.end()));
    }
    static void expect_segments(const DeviceHistory& truth, const DeviceHistory& trace) {
        ASSERT_EQ(truth.segments.size(), trace.segments.size());
        for (size_t i = 0; i < truth.segments.size(); ++i) {
            EXPECT_EQ(truth.segments[i].address, trace.segments[i].address);
            EXPECT_EQ(truth.segments[i].size, trace.segments[i].size);
            EXPECT_EQ(truth.segments[i].alloc_event, trace.segments[i].alloc_event);
            EXPECT_EQ(truth.segments[i].free_event, trace.segments[i].free_event);
            EXPECT_EQ(truth.segments[i].is_large, trace.segments[i].is_large);
        }
        EXPECT_EQ(truth.allocations.segment, trace.allocations.segment);
    }
    /// Returns the result of a query, one line per row.
    std::vector<std::string> rows(const std::string& query) const { return query_rows(output_, query); }
    static int64_t data_gaps_of_kind(const Trace& trace, DataGapKind kind) {
        return std::count_if(trace.data_gaps.begin(), trace.data_gaps.end(),
                             [&](const DataGap& l) { return l.kind == kind; });
    }
    static std::string data_gaps_of(const Trace& trace) {
        std::string all;
        for (const DataGap& data_gap : trace.data_gaps) {
            all += data_gap_words(Words(Language::english), data_gap) + "\n";
        }
        return all;
    }

    fs::path folder_;
    std::string output_;
};

}  // namespace tidemark::test
