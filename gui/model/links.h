// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Links in reports: "allocation:N", "segment:N", "stack:N", "node:N", "time_point:N" and "line:LINE:PATH".
#pragma once

#include <QString>

#include "storage/trace/trace.h"

namespace tidemark::gui {

/// Returns "KIND:NUMBER".
QString link_to(const char* kind, int64_t number);
/// Returns "line:LINE:PATH" with a percent-encoded path.
QString line_link(const QString& path, int line);
QString line_link(const StackTable& stacks, FrameId frame);

}  // namespace tidemark::gui
