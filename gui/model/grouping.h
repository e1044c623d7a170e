// Which groups of allocations deserve a colour of their own.
#pragma once

#include "gui/model/session.h"

namespace tidemark::gui {

constexpr int most_groups = 10;  ///< with "the rest": as many as the palette tells apart

/// Ranks groups by the larger of their bytes at the device's peak and their mean bytes over all events.
/// Walks every allocation once. Thread: any.
std::shared_ptr<const Groups> make_groups(const Analysis& analysis, GroupBy by);

}  // namespace tidemark::gui
