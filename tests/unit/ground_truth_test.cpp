// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares replayed counters with torch.cuda.memory_stats() of the recorded process, at every mark of every snapshot.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "storage/analysis/analysis.h"
#include "storage/import/import.h"
#include "storage/read/open_trace.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Recording {
    const char* name;
    bool complete_marks = true;  ///< false if marks count events that the ring buffer dropped
};

class GroundTruth : public testing::TestWithParam<Recording> {
protected:
    void SetUp() override {
        const std::string base = std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + GetParam().name;
        truth_ = json::parse(std::ifstream(base + ".json"));
        // Users open trace files, so the test writes the snapshot to a file and opens that.
        // Tests of one recording run at the same time, each in a process of its own.
        path_ = (fs::temp_directory_path() / fmt::format("tidemark_truth_{}_{}.tide", GetParam().name, ::getpid()))
                    .string();
        Progress progress;
        auto imported = import_snapshot(base + ".pickle", path_, IfExists::replace, progress);
        ASSERT_TRUE(imported) << imported.error().sentence.english();
        auto opened = open_trace(path_, progress);
        ASSERT_TRUE(opened) << opened.error().sentence.english();
        trace_ = *opened;
        for (const DeviceHistory& device : trace_->devices) {
            analyses_.push_back(std::make_unique<Analysis>(trace_, device));
        }
    }
    void TearDown() override { fs::remove(path_); }

    /// Returns every counter that both PyTorch reports and events determine, under PyTorch's keys.
    static std::map<std::string, int64_t> flatten(const Counters& counters) {
        std::map<std::string, int64_t> flat;
        const auto add = [&](const std::string& key, const Stat& stat) {
            flat[key + ".current"] = stat.current;
            flat[key + ".peak"] = stat.peak;
            flat[key + ".allocated"] = stat.allocated;
            flat[key + ".freed"] = stat.freed;
        };
        for (int m = 0; m < metric_count; ++m) {
            for (int p = 0; p < pool_kind_count; ++p) {
                const auto metric = static_cast<Metric>(m);
                const auto kind = static_cast<PoolKind>(p);
                add(std::string(metric_name(metric)) + "." + pool_kind_name(kind), counters.at(metric, kind));
            }
        }
        add("oversize_allocations", counters.oversize_allocations);
        add("oversize_segments", counters.oversize_segments);
        if (counters.retries_known) {
            flat["num_alloc_retries"] = counters.num_alloc_retries;
        }
        flat["num_ooms"] = counters.num_ooms;
        flat["num_device_alloc"] = counters.num_device_alloc;
        flat["num_device_free"] = counters.num_device_free;
        return flat;
    }

    static std::map<std::string, int64_t> counters_at(const Analysis& analysis, EventNumber n) {
        return flatten(analysis.statistics().at(n));
    }

    /// Compares one device at every mark. Returns the number of compared values.
    int compare_marks(const Analysis& analysis);

    void expect_no_contradiction() {
        for (const DataGap& data_gap : trace_->data_gaps) {
            EXPECT_NE(data_gap.kind, DataGapKind::events_inconsistent) << data_gap.text;
        }
    }

    json truth_;
    std::string path_;
    std::shared_ptr<const Trace> trace_;
    std::vector<std::unique_ptr<Analysis>> analyses_;
};

/// Returns memory_stats() of one device at a mark. Older recordings store them for the only device, without a list.
const json& stats_of(const json& mark, int device) { return mark[3].is_array() ? mark[3][device] : mark[3]; }

/// Compares current values directly. The history may begin after a warm-up: so totals of allocated and freed bytes are
/// compared since the first mark, and a peak only if it was reached within the history.
int GroundTruth::compare_marks(const Analysis& analysis) {
    const DeviceHistory& device = analysis.device();
    std::optional<std::pair<json, std::map<std::string, int64_t>>> first;
    int compared = 0;
    for (const json& mark : truth_["marks"]) {
        SCOPED_TRACE(mark[0].get<std::string>());
        EventNumber n = mark[1][device.device];
        if (!GetParam().complete_marks) {
            // Marks of a ring buffer count dropped events, so their times identify the state.
            n = device.events_until(mark[2].get<int64_t>() * 1000 - trace_->start_utc_ns);
            if (n == 0) {
                continue;
            }
        }
        const json& truth = stats_of(mark, device.device);
        const auto replayed = counters_at(analysis, n);
        if (!first) {
            first = {truth, replayed};
        }
        for (const auto& [key, value] : replayed) {
            const int64_t true_value = truth.value(key, int64_t{0}), true_first = first->first.value(key, int64_t{0});
            if (key.ends_with(".current")) {
                EXPECT_EQ(true_value, value) << key;
            } else if (key.ends_with(".peak")) {
                EXPECT_GE(true_value, value) << key;
                if (true_value > true_first) {
                    EXPECT_EQ(true_value, value) << key;
                }
            } else {
                EXPECT_EQ(true_value - true_first, value - first->second[key]) << key << " since the first mark";
            }
            ++compared;
        }
    }
    return compared;
}

class MarkedRun : public GroundTruth {};

TEST_P(MarkedRun, CountersMatchPyTorchAtEveryMark) {
    for (const auto& analysis : analyses_) {
        SCOPED_TRACE("device " + std::to_string(analysis->device().device));
        EXPECT_GE(compare_marks(*analysis), 100);
    }
}

TEST_P(MarkedRun, EventsAgreeWithTheFinalState) { expect_no_contradiction(); }

/// Histories that begin before the first CUDA allocation. All counters start at zero, as in the process.
class CompleteRun : public GroundTruth {};

TEST_P(CompleteRun, CountersMatchPyTorchAtTheEnd) {
    const json& truth = truth_["stats"];
    for (const auto& [key, value] : counters_at(*analyses_.front(), trace_->main_device().event_count())) {
        ASSERT_TRUE(truth.contains(key)) << key;
        EXPECT_EQ(truth[key].get<int64_t>(), value) << key;
    }
}

TEST_P(CompleteRun, EventsAgreeWithTheFinalState) { expect_no_contradiction(); }

const auto recording_name = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(
    Snapshots, MarkedRun,
    testing::Values(Recording{"adam_steps", true}, Recording{"cudagraph", true}, Recording{"frag_oom", true},
                    Recording{"gpt_ring", false}, Recording{"streams", true}, Recording{"varlen_expandable", true},
                    Recording{"roundup", true}, Recording{"max_split", true}, Recording{"gc_threshold", true},
                    Recording{"expandable_mixed", true}, Recording{"expandable_graph", true}, Recording{"amp", true},
                    Recording{"mempool", true}, Recording{"late_start", true}, Recording{"ring_small", false},
                    Recording{"record_stream", true}, Recording{"two_gpus", true}, Recording{"oom_retry", true}),
    recording_name);
INSTANTIATE_TEST_SUITE_P(Snapshots, CompleteRun,
                         testing::Values(Recording{"s0_graph_leak"}, Recording{"s1_plain"},
                                         Recording{"s1_retain_empty"}, Recording{"s2_oom_list"}, Recording{"s3_linear"},
                                         Recording{"s3_varlen"}),
                         recording_name);

}  // namespace
}  // namespace tidemark
