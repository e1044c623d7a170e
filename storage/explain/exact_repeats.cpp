// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/exact_repeats.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 5;
constexpr size_t least_share = 2;  ///< of the allocations and of their bytes: 1 / 2

/// The allocations between two states. Those of one stack and size have the same symbol.
struct Sequence {
    std::vector<AllocationIndex> allocations;
    std::vector<uint32_t> symbols;

    Sequence(const Allocations& all, EventNumber from, EventNumber to) {
        std::map<std::pair<StackId, uint64_t>, uint32_t> known;
        for (AllocationIndex a = 0; a < all.size(); ++a) {
            if (all.alloc_event[a] != before_history && all.alloc_event[a] >= from && all.alloc_event[a] < to) {
                const auto next = static_cast<uint32_t>(known.size());
                symbols.push_back(known.try_emplace({all.stack[a], all.requested[a]}, next).first->second);
                allocations.push_back(a);
            }
        }
    }
    size_t size() const { return symbols.size(); }
};

/// A part of a sequence in which each symbol equals the one `period` places before.
struct Run {
    size_t begin = 0, end = 0, period = 0;
};

/// Adds the smallest periods of the sequence's beginnings that contain at least two of them. There are few, because a
/// beginning with another period is longer than the sum of both.
template <class Symbols>
void add_periods(const Symbols& symbols, std::set<size_t>& periods) {
    const auto count = static_cast<size_t>(std::ranges::distance(symbols));
    std::vector<size_t> border(count);  // of each beginning: the longest proper one that is its end, too
    for (size_t i = 1, length = 0; i < count; ++i) {
        const auto at = [&](size_t position) { return symbols[static_cast<std::ptrdiff_t>(position)]; };
        while (length > 0 && at(i) != at(length)) {
            length = border[length - 1];
        }
        length += at(i) == at(length);
        border[i] = length;
        if (const size_t period = i + 1 - length; period * 2 <= i + 1) {
            periods.insert(period);
        }
    }
}

/// Extends a run of one iteration in both directions.
Run extended(const std::vector<uint32_t>& symbols, size_t begin, size_t period) {
    Run run{begin, begin + period, period};
    while (run.end < symbols.size() && symbols[run.end] == symbols[run.end - period]) {
        ++run.end;
    }
    while (run.begin > 0 && symbols[run.begin - 1] == symbols[run.begin - 1 + period]) {
        --run.begin;
    }
    return run;
}

/// Returns the longest run of this period at the middle, which all runs contain that cover half of the sequence.
Run run_at_middle(const std::vector<uint32_t>& symbols, size_t period) {
    const size_t middle = symbols.size() / 2;
    const Run after = extended(symbols, middle, period), before = extended(symbols, middle - period, period);
    return after.end - after.begin >= before.end - before.begin ? after : before;
}

class RepeatFinder {
public:
    RepeatFinder(const PythonPaths& paths, const DeviceHistory& device, const Curves& curves, EventNumber from,
                 EventNumber to)
        : paths_(paths), device_(device), curves_(curves), sequence_(device.allocations, from, to), to_(to) {}

    std::optional<Loop> find() const {
        if (sequence_.size() < fewest_iterations) {
            return std::nullopt;
        }
        const auto middle = sequence_.symbols.begin() + static_cast<std::ptrdiff_t>(sequence_.size() / 2);
        std::set<size_t> periods;
        add_periods(std::ranges::subrange(middle, sequence_.symbols.end()), periods);
        add_periods(std::ranges::subrange(sequence_.symbols.begin(), middle) | std::views::reverse, periods);
        for (const size_t period : periods) {
            const Run run = run_at_middle(sequence_.symbols, period);
            if (covers_most(run)) {
                if (auto loop = loop_of(run)) {
                    return loop;
                }
            }
        }
        return std::nullopt;
    }

private:
    bool covers_most(const Run& run) const {
        uint64_t all = 0, covered = 0;
        for (size_t i = 0; i < sequence_.size(); ++i) {
            const uint64_t bytes = device_.allocations.block_size[sequence_.allocations[i]];
            all += bytes;
            covered += i >= run.begin && i < run.end ? bytes : 0;
        }
        return (run.end - run.begin) * least_share >= sequence_.size() && covered * least_share >= all;
    }

    std::optional<Loop> loop_of(const Run& run) const {
        const PathId caller = caller_of_iterations(run);
        Loop loop{paths_.frame_id(caller), paths_.frame_id(caller), {}, {}};
        if (caller == 0 || paths_.is_part_of_iteration(caller)) {
            return std::nullopt;
        }
        const std::vector<size_t> iterations = iterations_of(run);
        for (const size_t first : iterations) {
            loop.iterations.push_back(event_of(first));
        }
        if (iterations.size() < fewest_iterations || !returns_to_one_level(loop.iterations)) {
            return std::nullopt;
        }
        loop.end = run.end == sequence_.size() ? to_ : event_of(iterations.back() + run.period);
        return loop;
    }

    /// Returns the call in which all Python code of an iteration runs. The call of a module stands for its caller: only
    /// the module's forward() contains a loop over its layers.
    PathId caller_of_iterations(const Run& run) const {
        std::optional<PathId> caller;
        for (size_t i = run.begin; i < run.begin + run.period; ++i) {
            const PathId path = paths_.of(device_.allocations.stack[sequence_.allocations[i]]);
            if (path != 0) {
                caller = caller ? paths_.common_caller(*caller, path) : path;
            }
        }
        PathId call = caller.value_or(0);
        while (call != 0 && paths_.is_call_of_module(call)) {
            call = paths_.caller(call);
        }
        return call;
    }

    /// Returns the first allocation of each complete iteration. An iteration begins at the lowest level of memory. What
    /// the first iteration allocates once for all may precede the run, but most of the iteration must belong to it.
    std::vector<size_t> iterations_of(const Run& run) const {
        const auto level = [&](size_t i) { return curves_.value(Series::allocated, event_of(i)); };
        size_t lowest = run.begin + run.period;
        for (size_t i = lowest; i < run.begin + 2 * run.period && i < run.end; ++i) {
            lowest = level(i) < level(lowest) ? i : lowest;
        }
        std::vector<size_t> iterations;
        size_t first = lowest;
        while (first >= run.period && first - run.period + run.period / 2 >= run.begin) {
            first -= run.period;
        }
        for (; first + run.period <= run.end; first += run.period) {
            iterations.push_back(first);
        }
        return iterations;
    }

    bool returns_to_one_level(const std::vector<EventNumber>& iterations) const {
        return std::all_of(iterations.begin() + 1, iterations.end(), [&](EventNumber event) {
            return curves_.value(Series::allocated, event) == curves_.value(Series::allocated, iterations.back());
        });
    }

    EventNumber event_of(size_t i) const { return device_.allocations.alloc_event[sequence_.allocations[i]]; }

    const PythonPaths& paths_;
    const DeviceHistory& device_;
    const Curves& curves_;
    Sequence sequence_;
    EventNumber to_;
};

}  // namespace

std::optional<Loop> find_exact_repeats(const PythonPaths& paths, const DeviceHistory& device, const Curves& curves,
                                       EventNumber from, EventNumber to) {
    return RepeatFinder(paths, device, curves, from, to).find();
}

}  // namespace tidemark
