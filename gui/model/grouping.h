// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The groups of allocations, and their colors.
#pragma once

#include <QColor>

#include "gui/model/palette.h"
#include "gui/model/session.h"

namespace tidemark::gui {

constexpr int most_groups = 10;  ///< with "other": as many as the palette distinguishes

/// Ranks groups by the larger of their bytes at the peak and their mean bytes over all events.
/// Walks every allocation once. Groups of `before`, made when the run was shorter, stay in place and color while
/// no other group is clearly larger. `graph` may be null, or of the same run when it was shorter. Thread: any.
std::shared_ptr<const Groups> make_groups(const Analysis& analysis, const GroupOption& choice,
                                          const std::shared_ptr<const Graph>& graph, const Groups* before = nullptr);

/// Returns all groupings for pictures, in the order of menus.
const std::vector<GroupOption>& group_options();
QString group_option_name(const GroupOption& choice);
/// Returns the place of a grouping in group_options().
int place_of(const GroupOption& choice);
/// Returns whether the groups come from the autograd graph.
bool needs_graph(GroupBy by);

/// Returns the categories of a graph for GroupOptions; nullptr if there are none, or the graph is of another trace.
const Categories* categories_of(const std::shared_ptr<const Graph>& graph, const Trace& trace);

/// Returns the color of a group in every pane: fixed for categories, else by rank; other groups are gray.
QColor color_of_group(const Theme& theme, const Groups& groups, int group);
/// Returns whether the group is the memory of unknown role, which is hatched.
bool is_unknown(const Groups& groups, int group);

}  // namespace tidemark::gui
