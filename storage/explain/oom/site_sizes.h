// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The sizes that the same allocation sites requested in different iterations: how much larger the input was, and which
// tensors grow with it, or with its square.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The same work in different iterations, even if another function called it.
struct SiteKey {
    FrameId site = 0, innermost = 0;
    uint32_t work = 0;  ///< operation and module; 0: not recorded
    auto operator<=>(const SiteKey&) const = default;
};

/// The largest request of each site, in bytes.
using Sizes = std::map<SiteKey, uint64_t>;

/// Keeps references to the context and the error. Thread: any.
class SiteSizes {
public:
    SiteSizes(const AnalysisContext& context, const OtherEvent& oom);

    SiteKey key_of(AllocationIndex allocation) const;
    SiteKey key_of_request() const { return key(oom_.stack, oom_.origin); }
    /// Returns the sizes of all allocations between two states, except parameters, gradients and optimizer state.
    Sizes between(EventNumber first, EventNumber last) const;
    /// Returns the largest request of the failed request's site that was served before; 0: there was none.
    uint64_t largest_served() const;
    /// Returns the sizes of the earlier requests of the failed request's site, by age, if none is smaller than the one
    /// before, and enough are larger; otherwise nothing. Omits small ones, which are other tensors of the same line.
    std::vector<uint64_t> growing_requests() const;
    /// Returns the sizes of the failed iteration, including the request that failed.
    Sizes of_failure(EventNumber first) const;

private:
    SiteKey key(StackId stack, uint32_t origin) const;
    /// Returns whether the size does not depend on the input.
    bool has_size_of_parameter(AllocationIndex a) const;

    const AnalysisContext& context_;
    const OtherEvent& oom_;
    std::vector<uint32_t> work_;  ///< by origin
};

/// Returns how many times as large the input behind `sizes` was as that behind `base`: the ratio of most sites that
/// differ; its square counts, too. Returns 1 if more sites are equal, and nothing if the sites are other ones or have
/// no common ratio.
std::optional<double> input_ratio(const Sizes& sizes, const Sizes& base);

/// Returns the power of the input with which a site grows, 0 to 2, given the ratio of the inputs. Returns nothing if
/// the site is not in both, the inputs are equally large, or it is no such power.
std::optional<int> growth_power(const SiteKey& key, const Sizes& sizes, const Sizes& base, double input_ratio);

}  // namespace tidemark
