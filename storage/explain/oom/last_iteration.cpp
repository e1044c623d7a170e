// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A variable that still refers to a tensor of the last iteration, and with it often to its whole graph.
#include <fmt/format.h>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A smaller part (1 / 10) of the memory in use does not decide.
constexpr int64_t least_part = 10;

/// Returns the bytes that the last complete iteration allocated.
int64_t bytes_of_last(const OomCase& oom, const RetainedMemory& group) {
    const Iteration& last = oom.context().iterations()[oom.iteration()->good - 1];
    int64_t bytes = 0;
    for (const AllocationIndex a : group.memory) {
        const EventNumber made = oom.allocations().alloc_event[a];
        bytes += made >= last.first && made < oom.began() ? oom.bytes(a) : 0;
    }
    return bytes;
}

}  // namespace

void oom_advice::last_iteration(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    if (!oom.iteration()) {
        return;
    }
    for (const RetainedMemory& group : oom.retained().groups()) {
        const int64_t bytes = bytes_of_last(oom, group);
        if (!is_variable(*group.referrer) || bytes * least_part < oom.in_use()) {
            continue;
        }
        const GraphTables& tables = oom.context().graph()->tables();
        const std::string name = referrer_expression(tables, *group.referrer);
        answer.text.push_back(words("{bytes} of the last iteration are still retained by {referrer}.",
                                    with("bytes", format_bytes(bytes)),
                                    with("referrer", referrer_words(tables, words, *group.referrer))));
        add_fix(answer, oom, words,
                words("If the next iteration does not need `{name}`, delete it before: the variable keeps the tensor "
                      "until it is assigned again.",
                      with("name", name)),
                fmt::format("del {}", name), bytes);
    }
}

}  // namespace tidemark
