// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/old_results.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// A smaller result does not raise the peak noticeably: 1 / 20.
constexpr int64_t least_fraction = 20;
/// Shorter repetitions may be the layers of a model.
constexpr AllocationIndex fewest_in_repetition = 50;
/// More repetitions are iterations, which `stale-local` reads.
constexpr int64_t most_repetitions = 4;
/// Repetitions are the same, and fill the trace, if less than this part differs (1 / 10) or lies outside (1 / 5).
constexpr int64_t different_part = 10, outside_part = 5;

class Repetitions {
public:
    explicit Repetitions(const AnalysisContext& context)
        : context_(context), all_(context.device().allocations), begin_(all_.begin_of_history()), end_(all_.size()) {}

    /// Returns whether the same line replaces a result when the next repetition has ended.
    bool is_replaced(AllocationIndex a) const {
        const AllocationIndex next = next_of(a);
        const EventNumber freed = all_.free_event[a];
        if (a < begin_ || next == end_ || freed >= context_.now() || freed < all_.alloc_event[next] ||
            all_.free_event[next] < freed) {
            return false;
        }
        const AllocationIndex repetition = next - a;
        return repetition >= fewest_in_repetition && are_repetitions(a, repetition) && ends_repetition(a, freed);
    }

private:
    bool is_same(AllocationIndex a, AllocationIndex b) const {
        return all_.stack[a] == all_.stack[b] && all_.requested[a] == all_.requested[b];
    }

    AllocationIndex next_of(AllocationIndex a) const {
        AllocationIndex next = a + 1;
        while (next < end_ && !is_same(a, next)) {
            ++next;
        }
        return next;
    }

    /// Returns whether the repetitions that end with `a` and with the allocation `repetition` places later are the
    /// same, and the trace has few repetitions and little else.
    bool are_repetitions(AllocationIndex a, AllocationIndex repetition) const {
        const AllocationIndex before = std::min<AllocationIndex>(repetition, a + 1 - begin_);
        int64_t same = 0;
        for (AllocationIndex k = 0; k < before; ++k) {
            same += is_same(a - k, a + repetition - k);
        }
        int64_t repetitions = 0;
        for (AllocationIndex b = begin_; b < end_; ++b) {
            repetitions += is_same(a, b);
        }
        const int64_t compared = before, whole = repetition, total = end_ - begin_;
        return (compared - same) * different_part <= compared && (whole - compared) * outside_part <= whole &&
               repetitions <= most_repetitions && (total - repetitions * whole) * outside_part <= total;
    }

    /// Returns whether the next repetition begins after an event, or nothing is allocated after it. Layers of one model
    /// are followed by its head.
    bool ends_repetition(AllocationIndex a, EventNumber event) const {
        AllocationIndex next = a + 1;
        while (next < end_ && all_.alloc_event[next] < event) {
            ++next;
        }
        return next == end_ || is_same(next, a + 1);
    }

    const AnalysisContext& context_;
    const Allocations& all_;
    AllocationIndex begin_, end_;
};

}  // namespace

AllocationIndex find_old_result(const AnalysisContext& context) {
    const auto peak = context.peak();
    const Allocations& all = context.device().allocations;
    const Repetitions repetitions(context);
    for (const AllocationIndex a : allocated_at(context, peak.max_event)) {
        if (static_cast<int64_t>(all.block_size[a]) * least_fraction < peak.max) {
            break;
        }
        if (repetitions.is_replaced(a)) {
            return a;
        }
    }
    return no_allocation;
}

std::string old_result_words(const AnalysisContext& context, const Words& words) {
    const AllocationIndex old = context.is_snapshot() ? find_old_result(context) : no_allocation;
    if (old == no_allocation) {
        return {};
    }
    const Allocations& all = context.device().allocations;
    return words(
        "At the peak, {bytes} are a result of {line} that is freed only when the next result exists. Delete it before "
        "the next call.",
        with("bytes", format_bytes(static_cast<int64_t>(all.block_size[old]))),
        with("line", line_of(context.trace(), all.stack[old])));
}

}  // namespace tidemark
