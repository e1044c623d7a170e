// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Describes a trace as a whole: file, run, process, settings.
#pragma once

#include "gui/model/session.h"
#include "gui/widgets/report.h"

namespace tidemark::gui {

Report describe_trace(const Session& session);

}  // namespace tidemark::gui
