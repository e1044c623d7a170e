// Which groups of allocations deserve a colour of their own.
#pragma once

#include <QColor>

#include "gui/model/palette.h"
#include "gui/model/session.h"

namespace tidemark::gui {

constexpr int most_groups = 10;  ///< with "the rest": as many as the palette tells apart

/// Ranks groups by the larger of their bytes at the device's peak and their mean bytes over all events.
/// Walks every allocation once. Groups of `before`, made when the run was shorter, keep their place and colour while
/// they are not clearly outgrown. `graph` may be null, or of the same run when it was shorter. Thread: any.
std::shared_ptr<const Groups> make_groups(const Analysis& analysis, const GroupChoice& choice,
                                          const std::shared_ptr<const Graph>& graph, const Groups* before = nullptr);

/// Everything pictures can be divided by, in the order of menus.
const std::vector<GroupChoice>& group_choices();
QString group_choice_name(const GroupChoice& choice);
/// Whether groups come from the autograd graph.
bool needs_graph(GroupBy by);

/// Of a group in every pane: fixed for categories, else by rank; the rest is grey.
QColor color_of_group(const Theme& theme, const Groups& groups, int group);

}  // namespace tidemark::gui
