// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The effect of the wheel on the plots.
#pragma once

#include <Qt>
#include <cstdint>

namespace tidemark::gui {

enum class WheelMode : uint8_t { scrolls, zooms };

/// Returns whether a turn of the wheel zooms; with Ctrl it does the other of the two.
inline bool wheel_zooms(WheelMode mode, Qt::KeyboardModifiers modifiers) {
    return modifiers.testFlag(Qt::ControlModifier) != (mode == WheelMode::zooms);
}

}  // namespace tidemark::gui
