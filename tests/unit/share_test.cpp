// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/share.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "storage/analysis/analysis.h"
#include "storage/import/import.h"
#include "storage/read/open_trace.h"
#include "storage/replay/memory_state.h"
#include "tests/unit/run_builder.h"
#include "tests/unit/sample_trace.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

using Folder = test::TemporaryFolder;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<const Trace> open(const std::string& path) {
    Progress progress;
    auto trace = open_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return trace ? *trace : nullptr;
}

void write(const Trace& trace, const std::string& path) {
    Progress progress;
    const Status status = write_trace(trace, peak_events(trace), path, IfExists::fail, progress);
    ASSERT_TRUE(status) << status.error().sentence.english();
}

void share(const std::string& input, const std::string& output, const ShareRequest& request) {
    Progress progress;
    const auto report = share_trace(input, output, request, IfExists::fail, progress);
    ASSERT_TRUE(report) << report.error().sentence.english();
    EXPECT_EQ(report->file_bytes, static_cast<int64_t>(fs::file_size(output)));
}

std::string import_test_snapshot(const Folder& folder, const std::string& name) {
    Progress progress;
    const std::string trace = folder / (name + ".tide");
    const auto report = import_snapshot(std::string(TIDEMARK_TEST_DATA) + "/snapshots/" + name + ".pickle", trace,
                                        IfExists::fail, progress);
    EXPECT_TRUE(report) << (report ? "" : report.error().sentence.english());
    return trace;
}

void expect_valid_database(const std::string& path) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, nullptr);
    ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
    EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "ok");
    sqlite3_finalize(statement);
    sqlite3_prepare_v2(db, "PRAGMA freelist_count", -1, &statement, nullptr);
    ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
    EXPECT_EQ(sqlite3_column_int(statement, 0), 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

std::set<std::string> texts_of(const Trace& trace) {
    std::set<std::string> texts{trace.source};
    for (StringId id = 0; id < trace.stacks.string_count(); ++id) {
        texts.insert(trace.stacks.string(id));
    }
    for (const Annotation& annotation : trace.annotations) {
        texts.insert(annotation.name);
    }
    for (const Mark& mark : trace.marks) {
        texts.insert(mark.name);
    }
    for (const Origin& origin : trace.origins) {
        texts.insert({origin.op, origin.module, origin.compile_context, origin.user_metadata});
    }
    return texts;
}

/// Expects that the file contains no text that redaction replaced. The check skips texts that are part of a kept text
/// (function "linear" in "torch/nn/linear.py") or of every trace file (function "main"). Whether a text may be kept is
/// the matter of redaction_test.cpp.
void expect_no_replaced_texts(const Trace& original, const std::string& shared_path, const Folder& folder) {
    const auto shared_trace = open(shared_path);
    std::set<std::string> kept = texts_of(*shared_trace);
    for (const DataGap& data_gap : shared_trace->data_gaps) {
        kept.insert(data_gap.text);
    }
    const std::string empty_path = folder / "empty.tide";
    write(Trace{}, empty_path);
    std::string unavoidable = bytes_of(empty_path);
    for (const std::string& text : kept) {
        unavoidable += text + '\n';
    }
    const std::string shared = bytes_of(shared_path);
    int replaced = 0;
    for (const std::string& text : texts_of(original)) {
        if (text.size() >= 4 && unavoidable.find(text) == std::string::npos) {
            ++replaced;
            EXPECT_EQ(shared.find(text), std::string::npos) << text;
        }
    }
    EXPECT_GT(replaced, 0);
}

const ShareRequest everything{{.paths = true, .source = true, .names = true, .times = true}, "", ""};

TEST(Share, RedactionRemovesAllOriginalTexts) {
    const Folder folder;
    const std::string original = folder / "run.tide";
    write(test::sample_trace(), original);
    share(original, folder / "shared.tide", everything);
    expect_valid_database(folder / "shared.tide");
    const std::string bytes = bytes_of(folder / "shared.tide");
    for (const char* secret : {"anna", "train", "next_batch", "data.py", "main.py", "home", "venv", "epoch", "fwd"}) {
        EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
    }
    EXPECT_NE(bytes.find("site-packages/torch/nn/linear.py"), std::string::npos);
    expect_no_replaced_texts(*open(original), folder / "shared.tide", folder);
}

TEST(Share, ReplacesEqualTextsByTheSamePlaceholder) {
    Trace trace = test::sample_trace();
    ShareRequest request;
    request.redaction.paths = true;
    const auto shared = prepare_to_share(trace, request);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->annotations[0].name, "step");
    const StackTable& stacks = shared->stacks;
    const Allocations& allocations = shared->devices[0].allocations;
    EXPECT_EQ(allocations.stack[1], allocations.stack[3]);
    const Frame& frame = stacks.frame(stacks.site(allocations.stack[1]));
    EXPECT_EQ(stacks.string(frame.function), "train_step");
    EXPECT_EQ(stacks.string(frame.file), "file2.py");
    EXPECT_EQ(frame.line, 20);
    ASSERT_EQ(shared->data_gaps.size(), 1u);
    EXPECT_EQ(shared->data_gaps[0].kind, DataGapKind::redacted);
}

TEST(Share, ReplacesNamesThatContainAPath) {
    Trace trace = test::sample_trace();
    trace.annotations[0].name = "train.py, epoch 3";
    trace.annotations[1].name = "save(/mnt/anna/model.pt)";
    trace.annotations[2].name = "forward pass";
    trace.settings["PYTORCH_CUDA_ALLOC_CONF"] = "\"log:/mnt/anna/log.txt\"";
    trace.origins.push_back({"", "", Phase::none, "", "from '/mnt/anna/model.pt'", 0});
    trace.devices[0].allocations.origin[1] = 1;
    ShareRequest request;
    request.redaction.paths = true;
    const auto shared = prepare_to_share(trace, request);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->annotations[0].name, "range_a.1");
    EXPECT_EQ(shared->annotations[1].name, "range_b");
    EXPECT_EQ(shared->annotations[2].name, "forward pass");
    EXPECT_EQ(shared->origins[1].user_metadata, "");
    EXPECT_FALSE(shared->settings.contains("PYTORCH_CUDA_ALLOC_CONF"));
}

TEST(Share, KeepsTheNamesOfMethodsThatPyTorchCalls) {
    Trace trace = test::sample_trace();
    const auto stack = test::stack_of(trace.stacks, {{"/home/anna/model.py", "forward"},
                                                     {"/home/anna/model.py", "AcmeBlock.forward"},
                                                     {"/home/anna/model.py", "AcmeBlock.__init__"},
                                                     {"/home/anna/model.py", "AcmeBlock.forward_twice"}});
    trace.devices[0].allocations.stack[1] = stack;
    const auto shared = prepare_to_share(trace, everything);
    ASSERT_TRUE(shared);
    std::vector<std::string> names;
    for (const FrameId id : shared->stacks.frames_of(shared->devices[0].allocations.stack[1])) {
        names.push_back(shared->stacks.string(shared->stacks.frame(id).function));
    }
    EXPECT_EQ(names.at(0), "forward");
    EXPECT_TRUE(names.at(1).starts_with("function") && names.at(1).ends_with(".forward")) << names.at(1);
    EXPECT_TRUE(names.at(2).starts_with("function") && names.at(2).ends_with(".__init__")) << names.at(2);
    EXPECT_EQ(names.at(3).find('.'), std::string::npos) << names.at(3);
}

TEST(Share, NeverUsesAnExistingNameAsPlaceholder) {
    Trace trace = test::sample_trace();
    test::stack_of(trace.stacks, {{"file1.py", "function1"}});
    const auto shared = prepare_to_share(trace, everything);
    ASSERT_TRUE(shared);
    for (const std::string& text : texts_of(*shared)) {
        EXPECT_NE(text, "file1.py");
        EXPECT_NE(text, "function1");
    }
}

TEST(Share, CopiesAllUsedTextsWithoutRedaction) {
    const Folder folder;
    const std::string original = folder / "run.tide";
    write(test::sample_trace(), original);
    share(original, folder / "shared.tide", {});
    expect_valid_database(folder / "shared.tide");
    EXPECT_EQ(texts_of(*open(original)), texts_of(*open(folder / "shared.tide")));
    EXPECT_TRUE(open(folder / "shared.tide")->data_gaps.empty());
}

TEST(Share, ReportsPrivateTextsThatAreLeft) {
    const Folder folder;
    const std::string original = folder / "run.tide";
    Trace trace = test::sample_trace();
    trace.start_utc_ns = 1795252033425954129;
    trace.processes = {{4711, {0}, "python train.py --token secret", 0, 8000, 0, ProcessEnd::exited}};
    trace.source_text.add("/home/anna/project/train.py", 20, "total += loss");
    write(trace, original);
    const auto left = [&](const char* name, const Redaction& redaction) {
        Progress progress;
        const auto report = share_trace(original, folder / name, {redaction, "", ""}, IfExists::fail, progress);
        EXPECT_TRUE(report);
        return report->left;
    };
    const PrivateTexts all = left("all.tide", {});
    EXPECT_TRUE(all.command_line && all.source_lines && all.paths && all.names && all.time);
    const PrivateTexts some = left("some.tide", {.paths = true});
    EXPECT_TRUE(!some.command_line && !some.source_lines && !some.paths && some.names && some.time);
    EXPECT_FALSE(left("none.tide", everything.redaction).any());
}

TEST(Share, RenumbersATimeRangeFromZeroAndClipsLifetimes) {
    ShareRequest request;
    request.from = "event:4";
    request.to = "event:8";
    const auto part = prepare_to_share(test::sample_trace(), request);
    ASSERT_TRUE(part) << part.error().sentence.english();
    const DeviceHistory& device = part->devices[0];
    EXPECT_EQ(device.event_count(), 4);
    EXPECT_EQ(device.allocations.alloc_event,
              (std::vector<EventNumber>{before_history, before_history, before_history, 1}));
    EXPECT_EQ(device.allocations.free_event, (std::vector<EventNumber>{never, before_history, 2, never}));
    EXPECT_EQ(device.allocations.free_completed, (std::vector<EventNumber>{never, 0, never, never}));
    EXPECT_EQ(device.event_time, (std::vector<int64_t>{1000, 2000, 3000, 4000}));
    ASSERT_EQ(device.others.size(), 1u);
    EXPECT_EQ(device.others[0].event, 3);
    EXPECT_EQ(device.event_ref[1].index(), 3u);
    ASSERT_EQ(part->annotations.size(), 2u);
    EXPECT_EQ(part->annotations[0].start, 0);
    EXPECT_EQ(part->annotations[0].end, 500);
    ASSERT_EQ(part->marks.size(), 1u);
    EXPECT_EQ(part->marks[0].events.at(0), 2);
}

/// Returns the sample trace with the rows that a recorder adds.
Trace recorded_trace() {
    Trace trace = test::sample_trace();
    trace.processes = {{4711,
                        {0},
                        "/home/anna/venv/bin/python /home/anna/project/train.py --token secret",
                        0,
                        8000,
                        1,
                        {ProcessEnd::exception, "KeyError: '/home/anna/secret.json'"}}};
    trace.steps = {
        {0, StepSource::user, 0, 3500}, {1, StepSource::user, 3500, 6500}, {2, StepSource::user, 6500, std::nullopt}};
    trace.driver_allocations = {
        {DriverMemoryKind::device, 0, 1, 100, 1000, 2000, "libcublas.so.13", 1, false},
        {DriverMemoryKind::device, 0, 2, 100, 1000, 5000, "/home/anna/lib/libanna.so", 2, false},
        {DriverMemoryKind::device, 0, 3, 100, 5000, std::nullopt, "/opt/libcudnn.so.9", 0, false},
        {DriverMemoryKind::device, 0, 4, 100, 7500, std::nullopt, "libcublas.so.13", 0, false}};
    for (const int64_t time : {0, 2000, 4000, 6000, 8000}) {
        trace.samples.push_back({time, 0, std::nullopt, time, 80, SampleSource::nvml});
        trace.samples.push_back({time, 0, 4711, time / 2, 0, SampleSource::nvml});
    }
    return trace;
}

TEST(Share, ClipsRecordedDataToTheTimeRange) {
    ShareRequest request;
    request.from = "event:4";
    request.to = "event:8";
    const auto part = prepare_to_share(recorded_trace(), request);
    ASSERT_TRUE(part) << part.error().sentence.english();
    ASSERT_EQ(part->steps.size(), 3u);
    EXPECT_EQ(part->steps[0].start, 0);
    EXPECT_EQ(part->steps[0].end, 500);
    EXPECT_FALSE(part->steps[2].end);
    ASSERT_EQ(part->driver_allocations.size(), 2u) << "those alive between 3 and 7 us";
    EXPECT_EQ(part->driver_allocations[0].time, 0);
    EXPECT_EQ(part->driver_allocations[0].free_time, 2000);
    EXPECT_EQ(part->driver_allocations[1].time, 2000);
    ASSERT_EQ(part->samples.size(), 6u);
    EXPECT_EQ(part->samples[0].time, 0);
    EXPECT_EQ(part->samples[0].used_bytes, 2000);
    EXPECT_EQ(part->samples[2].time, 1000);
    EXPECT_FALSE(part->processes[0].end);
}

TEST(Share, MovedSamplesFitTheStateAtTheStart) {
    constexpr int64_t MiB = 1 << 20, second = 1'000'000'000;
    test::RunBuilder run;
    run.segment(20 * MiB);
    run.trace.samples = {{0, 0, std::nullopt, 629 * MiB, 80'000 * MiB, SampleSource::nvml},
                         {0, 0, 100, 520 * MiB, 0, SampleSource::nvml},
                         {0, 0, 7, 100 * MiB, 0, SampleSource::nvml}};
    run.segment(64 * MiB);
    run.segment(2 * MiB);
    run.segment(2 * MiB);
    auto& times = run.device().event_time;
    for (size_t i = 0; i < times.size(); ++i) {
        times[i] = static_cast<int64_t>(i) * second;
    }
    run.trace.duration = times.back();
    ShareRequest request;
    request.from = "event:2";
    request.to = "event:4";
    const auto part = prepare_to_share(run.trace, request);
    ASSERT_TRUE(part) << part.error().sentence.english();
    ASSERT_EQ(part->samples.size(), 3u);
    EXPECT_EQ(part->samples[0].used_bytes, (629 + 64) * MiB) << "with the segment since the sample";
    EXPECT_EQ(part->samples[1].used_bytes, (520 + 64) * MiB);
    EXPECT_EQ(part->samples[2].used_bytes, 100 * MiB);
}

TEST(Share, RedactsCommandLinesAndLibraries) {
    ShareRequest request;
    request.redaction.paths = true;
    const auto without_paths = prepare_to_share(recorded_trace(), request);
    ASSERT_TRUE(without_paths);
    EXPECT_EQ(without_paths->processes[0].command_line, "") << "it contains paths, and secrets beside them";
    EXPECT_EQ(without_paths->processes[0].how_ended.text, "");
    EXPECT_EQ(without_paths->driver_allocations[0].source, "libcublas.so.13");
    EXPECT_EQ(without_paths->driver_allocations[1].source, "library1.so");
    EXPECT_EQ(without_paths->driver_allocations[2].source, "libcudnn.so.9");
    request.redaction.source = true;
    const auto without_source = prepare_to_share(recorded_trace(), request);
    ASSERT_TRUE(without_source);
    EXPECT_EQ(without_source->processes[0].command_line, "");
    EXPECT_EQ(without_source->processes[0].how_ended, Fact(ProcessEnd::exception));
    EXPECT_EQ(without_source->processes[0].pid, 4711);
}

TEST(Share, RejectsEmptyAndUnknownTimeRanges) {
    for (const auto& [from, to] :
         {std::pair{"event:5", "event:3"}, {"event:5", "event:5"}, {"mark:no", ""}, {"", "x"}}) {
        ShareRequest request;
        request.from = from;
        request.to = to;
        const auto part = prepare_to_share(test::sample_trace(), request);
        ASSERT_FALSE(part);
        EXPECT_EQ(part.error().kind, ErrorKind::usage);
    }
}

class ShareSnapshot : public testing::TestWithParam<const char*> {};

TEST_P(ShareSnapshot, RedactionRemovesAllOriginalTexts) {
    const Folder folder;
    const std::string original = import_test_snapshot(folder, GetParam());
    const std::string before = bytes_of(original);
    share(original, folder / "shared.tide", everything);
    EXPECT_EQ(bytes_of(original), before);
    expect_valid_database(folder / "shared.tide");
    expect_no_replaced_texts(*open(original), folder / "shared.tide", folder);
}

bool same_current_values(const Counters& a, const Counters& b) {
    for (int m = 0; m < metric_count; ++m) {
        for (int p = 0; p < pool_kind_count; ++p) {
            if (a.stats[m][p].current != b.stats[m][p].current) {
                return false;
            }
        }
    }
    return true;
}

TEST_P(ShareSnapshot, ATimeRangeHasEveryStateOfTheOriginal) {
    const Folder folder;
    const std::string original = import_test_snapshot(folder, GetParam());
    const auto whole = open(original);
    const DeviceHistory& device = whole->main_device();
    const EventNumber first = device.event_count() / 3;
    const EventNumber last = device.event_count() * 2 / 3;
    ShareRequest request;
    request.from = "event:" + std::to_string(first);
    request.to = "event:" + std::to_string(last);
    share(original, folder / "part.tide", request);
    expect_valid_database(folder / "part.tide");

    const auto part = open(folder / "part.tide");
    ASSERT_EQ(part->main_device().event_count(), last - first);
    const Analysis whole_analysis(whole, device);
    const Analysis part_analysis(part, part->main_device());
    const EventNumber stride = std::max(1, (last - first) / 200);
    for (EventNumber n = 0; n <= last - first; n += stride) {
        const Counters expected = whole_analysis.statistics().at(first + n);
        const Counters actual = part_analysis.statistics().at(n);
        ASSERT_TRUE(same_current_values(actual, expected)) << "event " << n;
        const MemoryState a = memory_state(device, whole_analysis.live(), first + n);
        const MemoryState b = memory_state(part->main_device(), part_analysis.live(), n);
        ASSERT_EQ(a.segments.size(), b.segments.size());
        ASSERT_EQ(a.largest_gap, b.largest_gap);
        ASSERT_EQ(a.pending, b.pending);
    }
}

INSTANTIATE_TEST_SUITE_P(Real, ShareSnapshot,
                         testing::Values("adam_steps", "streams", "cudagraph", "varlen_expandable", "frag_oom",
                                         "gpt_ring"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace tidemark
