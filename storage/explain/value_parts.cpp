// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/value_parts.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Dicts of more tensors are dicts of tensors, such as a state_dict().
constexpr size_t most_parts = 16;

bool is_same_name(const PathLink& one, const PathLink& other) {
    return one.kind == other.kind && one.name == other.name && one.function == other.function;
}

bool is_same_part(const ValuePart& one, const ValuePart& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), is_same_name);
}

}  // namespace

std::vector<ValuePart> parts_behind(const AnalysisContext& context, std::span<const PathLink> beginning, size_t end) {
    const GraphTables& tables = context.graph()->tables();
    std::vector<ValuePart> parts;
    for (const uint32_t position : context.graph()->referrers.referrers()) {
        const std::vector<PathLink>& links = tables.referrers[position].links;
        if (links.size() < end || !std::equal(beginning.begin(), beginning.end(), links.begin(), is_same_name)) {
            continue;
        }
        ValuePart part(links.begin() + static_cast<ptrdiff_t>(end), links.end());
        std::erase_if(part, [](const PathLink& link) { return link.kind == PathLinkKind::view; });
        const bool is_known =
            std::any_of(parts.begin(), parts.end(), [&](const ValuePart& other) { return is_same_part(part, other); });
        if (!is_known && parts.size() < most_parts) {
            parts.push_back(std::move(part));
        }
    }
    return parts;
}

}  // namespace tidemark
