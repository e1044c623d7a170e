// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/finding_memory.h"

#include <gtest/gtest.h>

#include "tests/unit/run_builder.h"

namespace tidemark {
namespace {

using test::RunBuilder;

constexpr uint64_t KiB = 1024;

/// Ends a run of 20 steps, each of which adds a tensor to a list; returns those that exist at the end.
/// `copies`: each step replaces all tensors of the list by copies.
std::vector<AllocationIndex> fill_list(RunBuilder& run, bool copies) {
    std::vector<AllocationIndex> list;
    for (size_t step = 0; step < 20; ++step) {
        const std::vector<AllocationIndex> before = list;
        for (size_t i = 0; copies && i < list.size(); ++i) {
            list[i] = run.alloc(40 * KiB, run.line("update"));
        }
        for (size_t i = 0; copies && i < before.size(); ++i) {
            run.free(before[i]);
        }
        list.push_back(run.alloc(40 * KiB, run.line("update")));
        run.free(run.alloc(80 * KiB, run.line("update")));
        run.step();
    }
    return list;
}

std::vector<AllocationIndex> shown(bool copies) {
    RunBuilder run;
    const std::vector<AllocationIndex> list = fill_list(run, copies);
    const auto context = run.make_context();
    Finding finding;
    finding.severity = Severity::leak;
    finding.since = 0;
    set_allocations(finding, *context, list, context->device().event_count());
    return memory_over_time(context->device(), finding);
}

TEST(FindingMemory, OverTimeIsThatOfTheFinding) { EXPECT_EQ(shown(false).size(), 20u); }

/// Else the plot would show all of the leak at once, in the last step.
TEST(FindingMemory, OverTimeHasTheEarlierCopiesOfMemoryThatIsCopiedInEachStep) {
    EXPECT_EQ(shown(true).size(), 20u * 21 / 2);
}

/// An out-of-memory error has the memory of the leak that led to it.
TEST(FindingMemory, OverTimeOfAFailureHasWhatAGrowingTensorReplaced) {
    RunBuilder run;
    AllocationIndex before = no_allocation;
    for (uint64_t i = 1; i <= 10; ++i) {
        const AllocationIndex whole = run.alloc(i * MiB, run.line("append"));
        if (before != no_allocation) {
            run.free(before);
        }
        before = whole;
        run.step();
    }
    const auto context = run.make_context();
    Finding finding;
    finding.kind = FindingKind::out_of_memory;
    finding.severity = Severity::failure;
    set_allocations(finding, *context, {before}, context->device().event_count());
    EXPECT_EQ(memory_over_time(context->device(), finding).size(), 10u);
}

}  // namespace
}  // namespace tidemark
