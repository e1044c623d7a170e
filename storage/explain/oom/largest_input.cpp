// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/largest_input.h"

#include <cmath>

#include "storage/explain/composition.h"

namespace tidemark {
namespace {

/// Returns whether memory of the category has the same size for every input.
bool is_independent_of_input(Category category) {
    return category == Category::parameter || category == Category::buffer || category == Category::gradient ||
           category == Category::optimizer_state || category == Category::workspace;
}

/// Memory as a polynomial of the input's size.
struct Parts {
    double fixed = 0, linear = 0, square = 0;

    /// Returns the input with which the memory takes `bytes`; nothing if there is none.
    std::optional<double> input_for(double bytes) const {
        const double rest = bytes - fixed;
        if (rest <= 0 || linear + square <= 0) {
            return std::nullopt;
        }
        return square > 0 ? (std::sqrt(linear * linear + 4 * square * rest) - linear) / (2 * square) : rest / linear;
    }
};

/// Knows the power of the input with which each site grows.
class Powers {
public:
    Powers(const AnalysisContext& context, const SiteSizes& sizes, const FailedIteration& failed,
           const InputComparison& comparison)
        : sizes_(sizes), comparison_(comparison) {
        // Sites that the failed iteration did not reach are compared with the smallest input that fit.
        const Iteration& smallest = context.iterations()[extreme_iterations(context, failed).lowest];
        smallest_ = sizes.between(smallest.first, smallest.last);
        ratio_to_smallest_ = input_ratio(comparison.base, smallest_);
    }

    /// Returns 1 if the power is unknown.
    int of(AllocationIndex a) const {
        const SiteKey key = sizes_.key_of(a);
        if (const auto power = growth_power(key, comparison_.failed, comparison_.base, comparison_.ratio)) {
            return *power;
        }
        return ratio_to_smallest_ ? growth_power(key, comparison_.base, smallest_, *ratio_to_smallest_).value_or(1) : 1;
    }

private:
    const SiteSizes& sizes_;
    const InputComparison& comparison_;
    Sizes smallest_;
    std::optional<double> ratio_to_smallest_;
};

/// Divides the memory at the peak of the iteration that fit.
Parts parts_of(const AnalysisContext& context, const Powers& powers, size_t iteration) {
    const Allocations& allocations = context.device().allocations;
    const EventNumber peak = peak_of_iteration(context, iteration).max_event;
    const int64_t time = context.device().time_of_state(peak);
    Parts parts;
    for (const AllocationIndex a : allocated_at(context, peak)) {
        const bool is_fixed = allocations.alloc_event[a] < context.iterations()[iteration].first ||
                              (context.graph() && is_independent_of_input(context.graph()->categories.at(
                                                      {context.device_position(), a}, time)));
        const int power = is_fixed ? 0 : powers.of(a);
        double& part = power == 0 ? parts.fixed : power == 1 ? parts.linear : parts.square;
        part += static_cast<double>(allocations.block_size[a]);
    }
    return parts;
}

/// Returns whether the request has another ratio to that of the same site than the rest of the iteration: several
/// inputs of different sizes passed through it.
bool contradicts_request(const InputComparison& comparison, const SiteKey& request) {
    constexpr double least_difference = 0.02;
    return std::abs(comparison.ratio - 1) > least_difference && comparison.base.contains(request) &&
           !growth_power(request, comparison.failed, comparison.base, comparison.ratio);
}

}  // namespace

std::optional<InputComparison> compare_input(const AnalysisContext& context, const SiteSizes& sizes,
                                             const FailedIteration& failed, size_t iteration) {
    const Iteration& range = context.iterations()[iteration];
    InputComparison comparison;
    comparison.iteration = iteration;
    comparison.failed = sizes.of_failure(failed.first);
    comparison.base = sizes.between(range.first, range.last);
    const auto ratio = input_ratio(comparison.failed, comparison.base);
    if (!ratio) {
        return std::nullopt;
    }
    comparison.ratio = *ratio;
    if (contradicts_request(comparison, sizes.key_of_request())) {
        return std::nullopt;
    }
    const auto allocated = [&](EventNumber state) { return context.curves().value(Series::allocated, state); };
    comparison.bytes_before = allocated(failed.first) - allocated(range.first);
    return comparison;
}

std::optional<LargestInput> largest_input(const AnalysisContext& context, const SiteSizes& sizes,
                                          const FailedIteration& failed, const InputComparison& comparison,
                                          int64_t capacity) {
    const Powers powers(context, sizes, failed, comparison);
    Parts parts = parts_of(context, powers, comparison.iteration);
    parts.fixed += static_cast<double>(comparison.bytes_before);
    const auto input = parts.input_for(static_cast<double>(capacity));
    // The compared input fit, and the failed one did not.
    if (!input || *input < 1 || *input >= comparison.ratio) {
        return std::nullopt;
    }
    return LargestInput{*input / comparison.ratio, *input, parts.square > 0};
}

}  // namespace tidemark
