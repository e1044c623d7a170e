// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_roots.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "gui/graph/graph_box_text.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_referrers = 8;  // with a box in the drawing
constexpr size_t most_measured = 63;  // groups whose bytes one walk over the graph measures

void measure(std::vector<RootGroup>& groups, const GraphState& time_point) {
    std::vector<ReferrerTargets> queries;
    for (size_t g = 0; g < std::min(groups.size(), most_measured); ++g) {
        queries.push_back({groups[g].roots, {}});
    }
    const std::vector<Reachable> reachable = time_point.reachable_from(queries);
    for (size_t g = 0; g < reachable.size(); ++g) {
        groups[g].nodes = reachable[g].nodes;
        groups[g].reachable_bytes = reachable[g].bytes;
        groups[g].freed_bytes = reachable[g].freed_bytes;
    }
}

}  // namespace

QString RootGroup::title() const {
    return roots.size() == 1 ? type
                             : QStringLiteral("%1 × %2").arg(count_text(static_cast<int64_t>(roots.size())), type);
}

QString RootGroup::reachable_text() const {
    const QString bytes = bytes_text(static_cast<uint64_t>(std::max<int64_t>(reachable_bytes, 0)));
    return reachable_bytes == freed_bytes ? bytes : GraphMap::tr("%1 reachable").arg(bytes);
}

bool RootGroup::matches(const QString& text) const {
    const auto in = [&](const QString& field) { return field.contains(text, Qt::CaseInsensitive); };
    return in(type) || in(line) || in(module) || in(referrer);
}

std::vector<RootGroup> root_groups(const GraphIndex& index, const GraphState& time_point,
                                   const ReferrerIndex& referrers) {
    const GraphTables& tables = index.tables();
    const auto& nodes = tables.nodes;
    std::map<std::tuple<uint32_t, FrameId, QString>, size_t> places;
    std::vector<RootGroup> groups;
    for (const NodeIndex root : time_point.roots()) {
        const FrameId line = index.trace().stacks.site(nodes.stack[root]);
        const Referrer* const found = referrers.of(root);
        const QString referrer = found == nullptr ? QString() : referrer_name(tables, *found);
        const auto [place, is_new] = places.try_emplace({nodes.type[root], line, referrer}, groups.size());
        if (is_new) {
            const uint32_t origin = nodes.origin[root];
            groups.push_back({node_text(index, root),
                              line_text(index, root),
                              to_qstring(index.trace().origins[origin].module),
                              referrer,
                              {}});
        }
        RootGroup& group = groups[place->second];
        group.roots.push_back(root);
        group.freed_bytes += time_point.retained_bytes(root);
        group.reachable_bytes = group.freed_bytes;
        if (const int32_t step = index.step_of(root); step >= 0) {
            group.first_step = group.first_step < 0 ? step : std::min(group.first_step, step);
            group.last_step = std::max(group.last_step, step);
        }
    }
    const auto more = [](const RootGroup& a, const RootGroup& b) { return a.reachable_bytes > b.reachable_bytes; };
    std::stable_sort(groups.begin(), groups.end(), more);
    measure(groups, time_point);
    std::stable_sort(groups.begin(), groups.end(), more);
    return groups;
}

std::vector<RootReferrer> root_referrers(const std::vector<RootGroup>& groups) {
    std::map<QString, RootReferrer> by_text;
    for (const RootGroup& group : groups) {
        if (!group.referrer.isEmpty()) {
            RootReferrer& referrer = by_text[group.referrer];
            referrer.text = group.referrer;
            referrer.retained_bytes += group.freed_bytes;
            referrer.roots.insert(referrer.roots.end(), group.roots.begin(), group.roots.end());
        }
    }
    std::vector<RootReferrer> referrers;
    for (auto& [text, referrer] : by_text) {
        referrers.push_back(std::move(referrer));
    }
    std::stable_sort(referrers.begin(), referrers.end(),
                     [](const auto& a, const auto& b) { return a.retained_bytes > b.retained_bytes; });
    referrers.resize(std::min(referrers.size(), most_referrers));
    return referrers;
}

}  // namespace tidemark::gui
