// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The places of findings on the time axis: a flag where each begins, and the times of its evidence.
#pragma once

#include <vector>

#include "gui/model/session.h"

namespace tidemark {
enum class Severity : uint8_t;
}

namespace tidemark::gui {

struct FindingFlag {
    int finding = 0;  ///< position in Explanation::findings
    int number = 0;   ///< as on its card
    Severity severity{};
    TimePoint begin;  ///< the time that its card names
};

/// Returns the flags of all findings without those of severity background. Without an explanation: none.
std::vector<FindingFlag> finding_flags(const Session& session);

/// Returns the points in time that show the selected finding's evidence; empty if none is selected.
std::vector<TimePoint> selected_time_points(const Session& session);

/// Returns the tooltip of a flag as rich text.
QString flag_tip(const Session& session, const FindingFlag& flag);

}  // namespace tidemark::gui
