// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/site_sizes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {
namespace {

/// Sizes within this fraction count as equal, and ratios as the same.
constexpr double tolerance = 0.01;
/// Padding to multiples disturbs powers a little.
constexpr double power_tolerance = 0.1;
/// At least this part of the failed iteration's bytes must come from sites that the other iteration has.
constexpr double least_common = 0.5;
/// At least this part of the sites that differ must have the ratio.
constexpr double least_agreement = 0.5;

/// Requests of one line that grow: at least so many are larger than the one before, and the first is at least this part
/// (1 / 8) of the last.
constexpr size_t fewest_growing = 3;
constexpr uint64_t most_growth = 8;

bool is_near(double a, double b) { return std::abs(a / b - 1) < tolerance; }

/// Returns the ratios of the sites that both have; nothing if they did other work.
std::optional<std::vector<double>> ratios_of(const Sizes& sizes, const Sizes& base) {
    std::vector<double> ratios;
    double all = 0, common = 0;
    for (const auto& [key, size] : sizes) {
        all += static_cast<double>(size);
        if (const auto found = base.find(key); found != base.end() && found->second > 0) {
            common += static_cast<double>(size);
            ratios.push_back(static_cast<double>(size) / static_cast<double>(found->second));
        }
    }
    return common > 0 && common >= least_common * all ? std::optional(std::move(ratios)) : std::nullopt;
}

/// Returns how many sites grow with the ratio or its square.
size_t agreement(const std::vector<double>& ratios, double ratio) {
    return static_cast<size_t>(std::count_if(ratios.begin(), ratios.end(), [&](double other) {
        return is_near(other, ratio) || is_near(other, ratio * ratio);
    }));
}

}  // namespace

SiteSizes::SiteSizes(const AnalysisContext& context, const OtherEvent& oom) : context_(context), oom_(oom) {
    std::map<std::pair<std::string_view, std::string_view>, uint32_t> ids{{{"", ""}, 0}};
    for (const Origin& origin : context.trace().origins) {
        work_.push_back(ids.try_emplace({origin.op, origin.module}, static_cast<uint32_t>(ids.size())).first->second);
    }
}

SiteKey SiteSizes::key(StackId stack, uint32_t origin) const {
    const StackTable& stacks = context_.trace().stacks;
    return {stacks.site(stack), stacks.innermost(stack), work_[origin]};
}

bool SiteSizes::has_size_of_parameter(AllocationIndex a) const {
    const int64_t end = context_.trace().duration;
    const Category category =
        context_.graph() ? context_.graph()->categories.at({context_.device_position(), a}, end) : Category::unknown;
    return category == Category::parameter || category == Category::gradient || category == Category::optimizer_state;
}

SiteKey SiteSizes::key_of(AllocationIndex allocation) const {
    const Allocations& allocations = context_.device().allocations;
    return key(allocations.stack[allocation], allocations.origin[allocation]);
}

Sizes SiteSizes::between(EventNumber first, EventNumber last) const {
    const Allocations& allocations = context_.device().allocations;
    const auto& made = allocations.alloc_event;
    const auto begin = std::lower_bound(made.begin(), made.end(), first);
    Sizes sizes;
    for (auto at = begin; at != made.end() && *at < last; ++at) {
        const auto a = static_cast<AllocationIndex>(at - made.begin());
        if (!has_size_of_parameter(a)) {
            uint64_t& size = sizes[key_of(a)];
            size = std::max(size, allocations.requested[a]);
        }
    }
    return sizes;
}

uint64_t SiteSizes::largest_served() const {
    const Allocations& allocations = context_.device().allocations;
    const SiteKey request = key_of_request();
    uint64_t largest = 0;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < oom_.event; ++a) {
        if (allocations.requested[a] > largest && key_of(a) == request) {
            largest = allocations.requested[a];
        }
    }
    return largest;
}

std::vector<uint64_t> SiteSizes::growing_requests() const {
    const Allocations& allocations = context_.device().allocations;
    const SiteKey request = key_of_request();
    std::vector<uint64_t> sizes;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < oom_.event; ++a) {
        const uint64_t size = allocations.requested[a];
        if (size * most_growth < oom_.size || key_of(a) != request) {
            continue;
        }
        if (size >= oom_.size || (!sizes.empty() && size < sizes.back())) {
            return {};
        }
        if (sizes.empty() || size > sizes.back()) {
            sizes.push_back(size);
        }
    }
    return sizes.size() >= fewest_growing ? sizes : std::vector<uint64_t>();
}

Sizes SiteSizes::of_failure(EventNumber first) const {
    Sizes sizes = between(first, oom_.event);
    uint64_t& size = sizes[key_of_request()];
    size = std::max(size, oom_.size);
    return sizes;
}

std::optional<double> input_ratio(const Sizes& sizes, const Sizes& base) {
    auto ratios = ratios_of(sizes, base);
    if (!ratios) {
        return std::nullopt;
    }
    const size_t equal = std::erase_if(*ratios, [](double ratio) { return is_near(ratio, 1); });
    if (ratios->empty()) {
        return 1;
    }
    const double best = *std::max_element(ratios->begin(), ratios->end(), [&](double a, double b) {
        return std::pair(agreement(*ratios, a), -std::abs(std::log(a))) <
               std::pair(agreement(*ratios, b), -std::abs(std::log(b)));
    });
    const size_t agreeing = agreement(*ratios, best);
    if (agreeing < equal) {
        return 1;
    }
    const bool do_agree = static_cast<double>(agreeing) >= least_agreement * static_cast<double>(ratios->size());
    return do_agree ? std::optional(best) : std::nullopt;
}

std::optional<int> growth_power(const SiteKey& key, const Sizes& sizes, const Sizes& base, double input_ratio) {
    const auto size = sizes.find(key), other = base.find(key);
    if (size == sizes.end() || other == base.end() || other->second == 0 || is_near(input_ratio, 1)) {
        return std::nullopt;
    }
    const double ratio = static_cast<double>(size->second) / static_cast<double>(other->second);
    const double power = std::log(ratio) / std::log(input_ratio), nearest = std::round(power);
    const bool is_power = nearest >= 0 && nearest <= 2 && std::abs(power - nearest) < power_tolerance;
    return is_power ? std::optional(static_cast<int>(nearest)) : std::nullopt;
}

}  // namespace tidemark
