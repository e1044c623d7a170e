// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/read_graph.h"
#include "storage/timeline/curves.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "storage/export/share.h"
#include "storage/graph/graph_growth.h"
#include "storage/read/open_trace.h"
#include "storage/text/referrer_words.h"
#include "tests/unit/change_trace.h"
#include "tests/unit/graph_builder.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using test::RandomRun;

using Folder = test::TemporaryFolder;

void write(const RandomRun& run, const std::string& path) {
    Progress progress;
    const Status status =
        write_trace(run.trace, peak_events(run.trace), path, IfExists::fail, progress, &run.builder.tables);
    ASSERT_TRUE(status) << status.error().sentence.english();
}

struct Opened {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const GraphTables> graph;
};

Opened open(const std::string& path) {
    Progress progress;
    const auto trace = open_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    const auto graph = read_graph(**trace, progress);
    EXPECT_TRUE(graph) << (graph ? "" : graph.error().sentence.english());
    return {*trace, *graph};
}

/// Runs every query, also on damaged graphs.
void query_everything(const Opened& opened) {
    const GraphIndex index(opened.trace, opened.graph);
    const Categories categories(index);
    graph_growth(categories);
    for (const int64_t time : {int64_t{0}, int64_t{5000}, INT64_MAX - 1}) {
        const GraphState state(index, categories, time);
        const ReferrerIndex referrers(index, time);
        referrer_groups(state, referrers);
        roots_never_executed(state, referrers);
        for (NodeIndex node = 0; node < opened.graph->nodes.size(); ++node) {
            state.path_to(node);
            state.summary(node);
            state.freed_by(node);
            index.step_of(node);
        }
    }
}

std::vector<std::string> texts(const GraphTables& tables, const std::vector<uint32_t>& column) {
    std::vector<std::string> texts;
    for (const uint32_t text : column) {
        texts.push_back(tables.texts[text]);
    }
    return texts;
}

void expect_same_graph(const GraphTables& a, const GraphTables& b) {
    EXPECT_EQ(a.nodes.id, b.nodes.id);
    EXPECT_EQ(texts(a, a.nodes.type), texts(b, b.nodes.type));
    EXPECT_EQ(texts(a, a.nodes.variable), texts(b, b.nodes.variable));
    EXPECT_EQ(a.nodes.sequence, b.nodes.sequence);
    EXPECT_EQ(a.nodes.origin, b.nodes.origin);
    EXPECT_EQ(a.nodes.stack, b.nodes.stack);
    EXPECT_EQ(a.nodes.created, b.nodes.created);
    EXPECT_EQ(a.nodes.executed, b.nodes.executed);
    EXPECT_EQ(a.nodes.released, b.nodes.released);
    EXPECT_EQ(a.nodes.destroyed, b.nodes.destroyed);
    EXPECT_EQ(a.nodes.output, b.nodes.output);
    EXPECT_EQ(a.edges.first, b.edges.first);
    EXPECT_EQ(a.edges.to, b.edges.to);
    EXPECT_EQ(a.edges.slot, b.edges.slot);
    EXPECT_EQ(a.saved.first, b.saved.first);
    EXPECT_EQ(texts(a, a.saved.name), texts(b, b.saved.name));
    EXPECT_EQ(a.saved.allocation, b.saved.allocation);
    EXPECT_EQ(a.saved.bytes, b.saved.bytes);
    ASSERT_EQ(a.labels.size(), b.labels.size());
    for (size_t l = 0; l < a.labels.size(); ++l) {
        EXPECT_EQ(a.labels[l].allocation, b.labels[l].allocation);
        EXPECT_EQ(a.labels[l].time, b.labels[l].time);
        EXPECT_EQ(a.labels[l].category, b.labels[l].category);
        EXPECT_EQ(a.texts[a.labels[l].name], b.texts[b.labels[l].name]);
    }
    ASSERT_EQ(a.scans.size(), b.scans.size());
    EXPECT_EQ(a.scans[0].reason, b.scans[0].reason);
    EXPECT_EQ(a.scans[1].time, b.scans[1].time);
    ASSERT_EQ(a.referrers.size(), b.referrers.size());
    for (size_t h = 0; h < a.referrers.size(); ++h) {
        EXPECT_EQ(a.referrers[h].scan, b.referrers[h].scan);
        EXPECT_EQ(a.referrers[h].node, b.referrers[h].node);
        EXPECT_EQ(a.referrers[h].allocation, b.referrers[h].allocation);
        EXPECT_EQ(path_words(a, Words(Language::english), a.referrers[h]),
                  path_words(b, Words(Language::english), b.referrers[h]));
    }
    EXPECT_EQ(a.nodes_left_out, b.nodes_left_out);
}

TEST(ReadGraph, ReadsTheWrittenGraph) {
    const Folder folder;
    RandomRun run(1);
    run.builder.tables.nodes_left_out = 77;
    write(run, folder / "run.tide");
    const Opened opened = open(folder / "run.tide");
    expect_same_graph(run.builder.tables, *opened.graph);
    query_everything(opened);
}

TEST(ReadGraph, DropsInvalidReferences) {
    const Folder folder;
    const std::string path = folder / "run.tide";
    write(RandomRun(2), path);
    test::change_trace(
        path,
        "INSERT INTO autograd_node(id, type, sequence, origin, stack, variable, output, created_time, destroyed_time) "
        "  VALUES(-5, 999999, 1, -4, 12345678, -1, 1234567890123, 9223372036854775807, -9223372036854775807),"
        "        (9000, 1, NULL, 99999, -1, 1, -1, NULL, NULL);"
        "INSERT INTO autograd_edge VALUES(-5, 0, 9000, 0), (-5, -3, 1, 99999999), (9000, 0, -5, -1), (9000, 1, "
        "9000, 0),"
        "  (9000, 2, 123456, 0), (555555, 0, 1, 0), (1, 60000, 9000, 0), (9000, 70000, 1, 0);"
        "INSERT INTO saved_tensor(node, name, allocation, byte_offset, bytes, version, is_view, is_packed) VALUES"
        "  (9000, 77777, 99, -1, -1, -1, 7, NULL), (4444, 1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1, 1);"
        "INSERT INTO allocation_category(allocation, time, category, name) VALUES(-7, 1, 'parameter', 1),"
        "  (1, -9223372036854775808, 'gradient', 999999), (1, 5, 'a new word', 1);"
        "INSERT INTO referrer VALUES(9001, 99, 1, 1), (9002, 1, 4444, 4444), (9003, 2, 9000, -1);"
        "INSERT INTO path_link VALUES(9003, -1, 'index', 999999, -1, 999999, -7), (9999, 0, 'local', 1, 1, 1, 1);"
        "INSERT INTO meta VALUES('graph.nodes_left_out', 'many')");
    const Opened opened = open(path);
    const GraphIndex index(opened.trace, opened.graph);
    const NodeIndex low = index.find(-5), high = index.find(9000);
    ASSERT_NE(low, no_node);
    ASSERT_NE(high, no_node);
    EXPECT_EQ(index.find(12345), no_node);
    EXPECT_EQ(opened.graph->nodes.origin[low], 0u);
    EXPECT_EQ(opened.graph->nodes.stack[low], 0u);
    EXPECT_EQ(index.type(low), "");
    EXPECT_FALSE(opened.graph->nodes.output[low]);
    EXPECT_EQ(index.children(high).size(), 0u) << "edges to itself and back to the node that leads to it close cycles";
    EXPECT_LE(2, test::count_gaps(opened.graph->data_gaps, DataGapReason::edges_in_cycles));
    EXPECT_EQ(opened.graph->nodes_left_out, 0);
    query_everything(opened);
}

TEST(ReadGraph, TheExceptionThatEndsTheProgramIsNoReferrer) {
    const Folder folder;
    RandomRun run(7);
    GraphTables& tables = run.builder.tables;
    tables.scans = {{1, ScanReason::memory_grows, 0, 0, 0}, {2, ScanReason::end, 0, 0, 0}};
    const PathLink exception{PathLinkKind::exception, 0, 0, 0, 3};
    const PathLink local{PathLinkKind::local, run.builder.text("batch"), 0, 0, 3};
    tables.referrers = {{0, no_node, {0, 0}, {exception, local}},
                        {1, no_node, {0, 0}, {exception, local}},
                        {1, no_node, {0, 1}, {local, exception, local}}};
    write(run, folder / "run.tide");
    const Opened opened = open(folder / "run.tide");
    const auto& read = opened.graph->referrers;
    ASSERT_EQ(read.size(), 3u);
    EXPECT_EQ(read[0].links.size(), 2u) << "is handled, and the program goes on";
    ASSERT_EQ(read[1].links.size(), 1u);
    EXPECT_EQ(read[1].links[0].kind, PathLinkKind::local);
    EXPECT_EQ(read[2].links.size(), 3u) << "is stored in a variable";
}

TEST(ReadGraph, ReturnsAnEmptyGraphForFormat1) {
    const Folder folder;
    write(RandomRun(3), folder / "run.tide");
    Progress progress;
    const auto trace = open_trace(folder / "run.tide", progress);
    ASSERT_TRUE(trace);
    Trace old = **trace;
    old.format_version = 1;
    const auto graph = read_graph(old, progress);
    ASSERT_TRUE(graph);
    EXPECT_TRUE((*graph)->empty());
    Progress canceled;
    canceled.canceled = true;
    const auto stopped = read_graph(**trace, canceled);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::canceled);
}

TEST(ReadGraph, OmitsNodesCreatedAfterTheEndOfAGrowingTrace) {
    const Folder folder;
    write(RandomRun(4), folder / "run.tide");
    Progress progress;
    const auto trace = open_trace(folder / "run.tide", progress);
    ASSERT_TRUE(trace);
    Trace early = **trace;
    early.being_written = true;
    early.duration = 4000;
    const auto graph = read_graph(early, progress);
    ASSERT_TRUE(graph) << graph.error().sentence.english();
    const auto& created = (*graph)->nodes.created;
    EXPECT_FALSE(created.empty());
    EXPECT_TRUE(std::all_of(created.begin(), created.end(), [](int64_t time) { return time <= 4000; }));
    query_everything({std::make_shared<const Trace>(early), *graph});
}

TEST(ShareGraph, KeepsTheGraphThatIsAliveInTheTimeRange) {
    const Folder folder;
    const RandomRun run(5);
    write(run, folder / "run.tide");
    ShareRequest request;
    request.from = "event:100";
    request.to = "event:300";
    Progress progress;
    const auto report = share_trace(folder / "run.tide", folder / "part.tide", request, IfExists::fail, progress);
    ASSERT_TRUE(report) << report.error().sentence.english();
    const Opened part = open(folder / "part.tide");
    const int64_t start = 99 * 25, end = 299 * 25;
    const test::Graph whole = run.graph(), cut(*part.trace, *part.graph);
    for (const int64_t time : {start, (start + end) / 2, end}) {
        const GraphState before = whole.at(time), after = cut.at(time - start);
        EXPECT_EQ(before.alive_nodes(), after.alive_nodes()) << time;
        EXPECT_EQ(before.reachable_bytes(), after.reachable_bytes()) << time;
        ASSERT_EQ(before.roots().size(), after.roots().size()) << time;
        int64_t retained_before = 0, retained_after = 0;
        for (size_t r = 0; r < before.roots().size(); ++r) {
            retained_before += before.retained_bytes(before.roots()[r]);
            retained_after += after.retained_bytes(after.roots()[r]);
        }
        EXPECT_EQ(retained_before, retained_after) << time;
    }
    EXPECT_EQ(part.graph->scans.size(), 1u);
    for (const DataGap& data_gap : part.trace->data_gaps) {
        EXPECT_EQ(data_gap.text.find("left out"), std::string::npos) << data_gap.text;
    }
}

TEST(ShareGraph, RedactsAllNamesExceptThoseOfPyTorch) {
    RandomRun run(6);
    ShareRequest request{{.paths = true, .source = true, .names = true}, "", ""};
    GraphTables graph = run.builder.tables;
    const auto shared = prepare_to_share(run.trace, request, &graph);
    ASSERT_TRUE(shared);
    const std::string all = [&] {
        std::string text;
        for (const std::string& one : graph.texts) {
            text += one + '\n';
        }
        return text + word_of(graph.scans[0].reason);
    }();
    for (const char* secret : {"Secret", "anna", "train.py", "outputs", "main", "layers", "weight", "epoch"}) {
        EXPECT_EQ(all.find(secret), std::string::npos) << secret;
    }
    for (const char* kept : {"MmBackward0", "AddBackward0", "AccumulateGrad", "self", "file1.py"}) {
        EXPECT_NE(all.find(kept), std::string::npos) << kept;
    }
    EXPECT_EQ(word_of(graph.scans[0].reason).substr(0, 9), "mark mark");
    ASSERT_EQ(graph.nodes.size(), run.builder.tables.nodes.size());
    for (const uint32_t stack : graph.nodes.stack) {
        EXPECT_LT(stack, shared->stacks.stack_count());
    }
    for (const uint32_t origin : graph.nodes.origin) {
        EXPECT_LT(origin, shared->origins.size());
    }
}

}  // namespace
}  // namespace tidemark
