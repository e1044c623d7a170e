// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/referrer_at_peak.h"

#include <algorithm>
#include <map>
#include <vector>

#include "storage/explain/retention.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Paths into one container, or to one variable.
struct Retained {
    std::vector<const Referrer*> by_age;
    int64_t bytes = 0;
};

std::map<std::string, Retained> retained_by(const AnalysisContext& context, std::span<const AllocationIndex> by_age,
                                            const Words& words) {
    const GraphContext& graph = *context.graph();
    const ReferrerIndex referrers(graph.index, context.device().time_of_state(context.peak().max_event));
    std::map<std::string, Retained> found;
    for (const AllocationIndex a : by_age) {
        const Referrer* referrer = referrers.in_python(AllocationRef{context.device_position(), a});
        if (referrer == nullptr || !has_name(*referrer)) {
            continue;
        }
        const std::string container = container_key(graph, *referrer);
        Retained& retained = found[container.empty() ? referrer_words(graph.tables(), words, *referrer) : container];
        retained.by_age.push_back(referrer);
        retained.bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    return found;
}

}  // namespace

std::string referrer_at_peak(const AnalysisContext& context, std::span<const AllocationIndex> by_age,
                             const Words& words) {
    if (context.graph() == nullptr) {
        return {};
    }
    const auto found = retained_by(context, by_age, words);
    const auto most = std::max_element(found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    if (most == found.end()) {
        return {};
    }
    const auto& [referrers, bytes] = most->second;
    int64_t all = 0;
    for (const AllocationIndex a : by_age) {
        all += static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    if (referrers.size() == 1 && 2 * bytes < all) {
        return {};  // a variable of the newest of many tensors, for example
    }
    const GraphTables& tables = context.graph()->tables();
    if (referrers.size() == 1) {
        return referrer_words(tables, words, *referrers.front());
    }
    ReferrerGroup group = growth_group(tables, referrers);
    group.last_index = group.first_index;  // scans with limits find some of the elements
    return referrer_words(tables, words, group);
}

}  // namespace tidemark
