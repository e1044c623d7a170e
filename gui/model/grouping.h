// Which groups of allocations deserve a colour of their own.
#pragma once

#include "gui/model/session.h"

namespace tidemark::gui {

constexpr int most_groups = 10;  ///< with "the rest": as many as the palette tells apart

/// Ranks groups by the larger of their bytes at the device's peak and their mean bytes over all events.
/// Walks every allocation once. Groups of `before`, made when the run was shorter, keep their place and colour while
/// they are not clearly outgrown. Thread: any.
std::shared_ptr<const Groups> make_groups(const Analysis& analysis, GroupBy by, const Groups* before = nullptr);

}  // namespace tidemark::gui
