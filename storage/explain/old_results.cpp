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
/// Shorter rounds may be the layers of a model.
constexpr AllocationIndex fewest_in_round = 50;
/// More rounds are iterations, which `stale-local` reads.
constexpr int64_t most_rounds = 4;
/// Rounds are the same, and fill the trace, if less than this part differs (1 / 10) or lies outside (1 / 5).
constexpr int64_t different_part = 10, outside_part = 5;

class Rounds {
public:
    explicit Rounds(const AnalysisContext& context)
        : context_(context), all_(context.device().allocations), end_(all_.size()) {
        while (begin_ < end_ && all_.alloc_event[begin_] == before_history) {
            ++begin_;
        }
    }

    /// Returns whether the same line replaces a result when the next round has ended.
    bool is_replaced(AllocationIndex a) const {
        const AllocationIndex next = next_of(a);
        const EventNumber freed = all_.free_event[a];
        if (a < begin_ || next == end_ || freed >= context_.now() || freed < all_.alloc_event[next] ||
            all_.free_event[next] < freed) {
            return false;
        }
        const AllocationIndex round = next - a;
        return round >= fewest_in_round && are_rounds(a, round) && ends_round(a, freed);
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

    /// Returns whether the rounds that end with `a` and with the allocation `round` places later are the same, and the
    /// trace has few rounds and little else.
    bool are_rounds(AllocationIndex a, AllocationIndex round) const {
        const AllocationIndex before = std::min<AllocationIndex>(round, a + 1 - begin_);
        int64_t same = 0;
        for (AllocationIndex k = 0; k < before; ++k) {
            same += is_same(a - k, a + round - k);
        }
        int64_t rounds = 0;
        for (AllocationIndex b = begin_; b < end_; ++b) {
            rounds += is_same(a, b);
        }
        const int64_t compared = before, whole = round, total = end_ - begin_;
        return (compared - same) * different_part <= compared && (whole - compared) * outside_part <= whole &&
               rounds <= most_rounds && (total - rounds * whole) * outside_part <= total;
    }

    /// Returns whether the next round begins after an event, or nothing is allocated after it. Layers of one model
    /// are followed by its head.
    bool ends_round(AllocationIndex a, EventNumber event) const {
        AllocationIndex next = a + 1;
        while (next < end_ && all_.alloc_event[next] < event) {
            ++next;
        }
        return next == end_ || is_same(next, a + 1);
    }

    const AnalysisContext& context_;
    const Allocations& all_;
    AllocationIndex begin_ = 0, end_;
};

}  // namespace

AllocationIndex find_old_result(const AnalysisContext& context) {
    const auto peak = context.curves().peak(Series::allocated);
    const Allocations& all = context.device().allocations;
    const Rounds rounds(context);
    for (const AllocationIndex a : allocated_at(context, peak.max_event)) {
        if (static_cast<int64_t>(all.block_size[a]) * least_fraction < peak.max) {
            break;
        }
        if (rounds.is_replaced(a)) {
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
