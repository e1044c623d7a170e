// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/category_grouping.h"

namespace tidemark {
namespace {

/// Moves `unknown`, the first value of the enumeration, to the end, so that a chart draws it last.
uint16_t group_of(Category category) {
    return static_cast<uint16_t>((static_cast<int>(category) + category_count - 1) % category_count);
}

}  // namespace

Grouping group_by_category(const Categories& categories, uint32_t d) {
    const DeviceHistory& device = categories.index().trace().devices[d];
    Grouping grouping;
    grouping.names.resize(category_count);
    for (int c = 0; c < category_count; ++c) {
        const auto category = static_cast<Category>(c);
        grouping.names[group_of(category)] = category_name(category);
    }
    grouping.first_change.push_back(0);
    for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
        grouping.group_of.push_back(group_of(categories.first({d, a})));
        for (const CategoryChange& change : categories.later({d, a})) {
            grouping.changes.push_back({device.events_until(change.time), group_of(change.category)});
        }
        grouping.first_change.push_back(static_cast<uint32_t>(grouping.changes.size()));
    }
    return grouping;
}

Category category_of_group(size_t group) { return static_cast<Category>((group + 1) % category_count); }

}  // namespace tidemark
