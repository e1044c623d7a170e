// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/composition.h"

#include <algorithm>
#include <numeric>

#include "storage/base/units.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

/// Smaller shares are combined into one.
constexpr double least_share = 0.01;

template <class Visit>
void for_each_allocated(const AnalysisContext& context, EventNumber state, Visit&& visit) {
    context.analysis().live().for_each_active(state, [&](AllocationIndex a) {
        if (context.device().allocations.free_event[a] >= state) {
            visit(a);
        }
    });
}

}  // namespace

int64_t Composition::total() const { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

Composition composition_at(const AnalysisContext& context, EventNumber state) {
    Composition composition;
    const int64_t time = context.device().time_of_state(state);
    for_each_allocated(context, state, [&](AllocationIndex a) {
        const Category category =
            context.graph() ? context.graph()->categories.at({context.device_position(), a}, time) : Category::unknown;
        composition.bytes[static_cast<size_t>(category)] +=
            static_cast<int64_t>(context.device().allocations.block_size[a]);
    });
    return composition;
}

std::string composition_words(const Words& words, const Composition& composition) {
    std::array<Category, category_count> order;
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<Category>(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](Category a, Category b) { return composition.of(a) > composition.of(b); });
    const auto total = static_cast<double>(composition.total());
    const auto part = [&](const std::string& name, int64_t bytes) {
        return words("{name} {bytes}", with("name", name), with("bytes", format_bytes(bytes)));
    };
    std::vector<std::string> parts;
    int64_t rest = 0;
    for (const Category category : order) {
        const int64_t bytes = composition.of(category);
        if (static_cast<double>(bytes) < least_share * total) {
            rest += bytes;
        } else if (bytes > 0) {
            parts.push_back(part(category_name(words, category), bytes));
        }
    }
    if (rest > 0) {
        parts.push_back(part(words("everything else"), rest));
    }
    return words.list(parts);
}

std::vector<AllocationIndex> allocated_at(const AnalysisContext& context, EventNumber state) {
    std::vector<AllocationIndex> found;
    for_each_allocated(context, state, [&](AllocationIndex a) { found.push_back(a); });
    const auto& size = context.device().allocations.block_size;
    std::stable_sort(found.begin(), found.end(),
                     [&](AllocationIndex a, AllocationIndex b) { return size[a] > size[b]; });
    return found;
}

}  // namespace tidemark
