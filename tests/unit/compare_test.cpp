// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/unit/sample_trace.h"

namespace tidemark {
namespace {

using Lines = std::vector<std::pair<std::string_view, int32_t>>;

/// A trace of allocations that are never freed, given as stack (innermost line first) and bytes.
struct SmallRun {
    Trace trace;
    std::unique_ptr<AliveIndex> alive;

    explicit SmallRun(const std::vector<std::pair<Lines, uint64_t>>& allocations, const char* folder = "/home/anna/") {
        trace.origins = {Origin{}};
        DeviceHistory device;
        EventNumber event = 0;
        for (const auto& [lines, bytes] : allocations) {
            test::add_allocation(device, event, never, never, 0x1000, bytes, bytes, stack(lines, folder));
            device.event_ref.push_back({Action::alloc, static_cast<uint32_t>(event)});
            device.event_time.push_back(event++);
        }
        trace.devices.push_back(std::move(device));
        alive = std::make_unique<AliveIndex>(trace.devices[0].allocations);
    }

    StackId stack(const Lines& lines, const std::string& folder) {
        std::vector<FrameId> frames;
        for (const auto& [file, line] : lines) {
            frames.push_back(trace.stacks.intern(
                Frame{trace.stacks.intern("step"), trace.stacks.intern(folder + std::string(file)), line}));
        }
        return trace.stacks.intern_stack(frames);
    }
    StateOf end() const { return {trace, trace.devices[0], *alive, trace.devices[0].event_count(), nullptr}; }
};

const CompareRow& row_of(const Comparison& comparison, std::string_view name) {
    const auto found = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                    [&](const CompareRow& row) { return row.name == name; });
    return *found;
}

TEST(Compare, ReportsAddedRemovedGrownAndUnchangedRows) {
    const SmallRun a({{{{"a.py", 1}}, 1000}, {{{"b.py", 2}}, 500}, {{{"c.py", 3}}, 64}});
    const SmallRun b({{{{"c.py", 3}}, 64}, {{{"b.py", 2}}, 500}, {{{"b.py", 2}}, 200}, {{{"d.py", 4}}, 9000}});
    const Comparison found = compare(a.end(), b.end(), GroupBy::stack);
    ASSERT_EQ(found.rows.size(), 4u);
    EXPECT_EQ(found.rows[0].name, "d.py:4 step");
    EXPECT_EQ(found.rows[0].change(), RowChange::only_b);
    EXPECT_EQ(found.rows[1].change(), RowChange::only_a);
    EXPECT_EQ(found.rows[1].difference(), -1000);
    const CompareRow& grown = row_of(found, "b.py:2 step");
    EXPECT_EQ(grown.change(), RowChange::grown);
    EXPECT_EQ(grown.a.bytes, 500);
    EXPECT_EQ(grown.b.count, 2);
    EXPECT_EQ(row_of(found, "c.py:3 step").change(), RowChange::same);
    EXPECT_EQ(found.a.bytes, 1564);
    EXPECT_EQ(found.b.count, 4);
    EXPECT_EQ(found.difference(), 9764 - 1564);
}

TEST(Compare, MatchesStacksByTextNotByIdOrFolder) {
    const Lines deep = {{"model.py", 7}, {"main.py", 3}}, other_caller = {{"model.py", 7}, {"main.py", 9}};
    const SmallRun a({{deep, 100}, {other_caller, 10}});
    const SmallRun b({{{{"x.py", 1}}, 1}, {other_caller, 10}, {deep, 100}}, "/srv/job/");
    const Comparison found = compare(a.end(), b.end(), GroupBy::stack);
    ASSERT_EQ(found.rows.size(), 3u);
    EXPECT_EQ(found.rows[0].name, "x.py:1 step");
    EXPECT_EQ(found.rows[1].difference(), 0);
    EXPECT_EQ(found.rows[2].difference(), 0);
}

TEST(Compare, MatchesStacksWhoseLinesMoved) {
    const SmallRun a({{{{"model.py", 7}}, 100}, {{{"loss.py", 1}}, 5}});
    const SmallRun b({{{{"model.py", 12}}, 140}, {{{"loss.py", 1}}, 5}});
    const Comparison found = compare(a.end(), b.end(), GroupBy::stack);
    ASSERT_EQ(found.rows.size(), 2u);
    EXPECT_TRUE(found.rows[0].moved);
    EXPECT_EQ(found.rows[0].name, "model.py:12 step");
    EXPECT_EQ(found.rows[0].change(), RowChange::grown);
    EXPECT_EQ(found.rows[0].difference(), 40);
    EXPECT_FALSE(found.rows[1].moved);
}

TEST(Compare, DoesNotMatchAmbiguousLines) {
    const SmallRun a({{{{"model.py", 7}}, 100}});
    const SmallRun b({{{{"model.py", 12}}, 100}, {{{"model.py", 14}}, 100}});
    EXPECT_EQ(compare(a.end(), b.end(), GroupBy::stack).rows.size(), 3u);
}

TEST(Compare, MatchesTheLinesOfARenamedFile) {
    const SmallRun a({{{{"train.py", 7}}, 100}, {{{"train.py", 9}}, 40}, {{{"train.py", 20}}, 5}, {{{"x.py", 1}}, 8}});
    const SmallRun b({{{{"fixed.py", 7}}, 100}, {{{"fixed.py", 9}}, 10}, {{{"x.py", 1}}, 8}});
    for (const GroupBy by : {GroupBy::line, GroupBy::stack}) {
        const Comparison found = compare(a.end(), b.end(), by);
        ASSERT_EQ(found.renamed, (std::vector<RenamedFile>{{"train.py", "fixed.py"}}));
        ASSERT_EQ(found.rows.size(), 4u);
        EXPECT_EQ(row_of(found, "fixed.py:7 step").change(), RowChange::same);
        EXPECT_EQ(row_of(found, "fixed.py:9 step").difference(), -30);
        EXPECT_EQ(row_of(found, "fixed.py:9 step").name_in_a, "train.py:9 step");
        EXPECT_EQ(row_of(found, "train.py:20 step").change(), RowChange::only_a);
    }
    EXPECT_EQ(compare(a.end(), b.end(), GroupBy::file).rows.size(), 2u);
}

TEST(Compare, TakesNoFileForAnotherThatBothHaveOrThatIsNotTheOnlyOne) {
    const SmallRun a({{{{"train.py", 7}}, 100}, {{{"train.py", 9}}, 40}});
    const SmallRun two({{{{"b.py", 7}}, 1}, {{{"b.py", 9}}, 1}, {{{"c.py", 7}}, 1}, {{{"c.py", 9}}, 1}});
    EXPECT_TRUE(compare(a.end(), two.end(), GroupBy::line).renamed.empty());
    const SmallRun both({{{{"train.py", 7}}, 1}, {{{"b.py", 7}}, 1}, {{{"b.py", 9}}, 1}});
    EXPECT_TRUE(compare(a.end(), both.end(), GroupBy::line).renamed.empty());
    const SmallRun by_chance({{{{"b.py", 7}}, 1}, {{{"b.py", 100}}, 1}});
    EXPECT_TRUE(compare(a.end(), by_chance.end(), GroupBy::line).renamed.empty());
}

TEST(Compare, FindsTheAllocationsOfARow) {
    const SmallRun a({{{{"a.py", 1}}, 1000}, {{{"b.py", 2}}, 500}, {{{"a.py", 1}}, 24}});
    for (const GroupBy by : {GroupBy::line, GroupBy::stack}) {
        const Comparison found = compare(a.end(), a.end(), by);
        const CompareRow& row = row_of(found, "a.py:1 step");
        EXPECT_EQ(allocations_of_row(a.end(), by, {}, row.name_in_a, row.stacks_in_a),
                  (std::vector<AllocationIndex>{0, 2}));
    }
}

TEST(Compare, AddsUpForEveryGrouping) {
    const Trace trace = test::sample_trace();
    const AliveIndex alive(trace.devices[0].allocations);
    const StateOf before{trace, trace.devices[0], alive, 2, nullptr}, after{trace, trace.devices[0], alive, 6, nullptr};
    for (int by = 0; by <= static_cast<int>(GroupBy::graph_step); ++by) {
        const Comparison found = compare(before, after, static_cast<GroupBy>(by));
        int64_t sum = 0;
        for (const CompareRow& row : found.rows) {
            sum += row.difference();
        }
        EXPECT_EQ(sum, 2048) << by;
        EXPECT_EQ(found.difference(), 2048) << by;
    }
}

}  // namespace
}  // namespace tidemark
