// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The roots of the graph at one time, grouped by type, line and referrer.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "gui/graph/graph_scene.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::gui {

/// Roots with one type, line and referrer.
struct RootGroup {
    QString type, line, module, referrer;  ///< referrer: empty if no heap scan found one
    std::vector<NodeIndex> roots;          ///< largest retained size first
    int64_t nodes = 0;                     ///< reachable from them
    int64_t reachable_bytes = 0;           ///< of all these roots together
    int64_t freed_bytes = 0;               ///< would be freed with these roots
    int32_t first_step = -1, last_step = -1;

    QString title() const;  ///< "100 × SumBackward0"
    /// Returns "61.0 MiB", or "61.0 MiB reachable" if not all of it would be freed, as the drawing says.
    QString reachable_text() const;
    bool matches(const QString& text) const;
};

/// Returns the groups with most reachable bytes first. Thread: any.
std::vector<RootGroup> root_groups(const GraphIndex& index, const GraphState& time_point,
                                   const ReferrerIndex& referrers);

/// Returns what refers to the roots, most retained bytes first; only the largest. Roots whose referrer no heap scan
/// found are left out.
std::vector<RootReferrer> root_referrers(const std::vector<RootGroup>& groups);

}  // namespace tidemark::gui
