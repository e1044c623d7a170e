// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Where the window shows a piece of evidence.
#pragma once

#include <vector>

#include "gui/model/selection.h"
#include "gui/model/session.h"

namespace tidemark {
struct Evidence;
struct Finding;
}  // namespace tidemark

namespace tidemark::gui {

/// The pane that shows a piece of evidence best; `any`: the plots show it, so the open pane stays open.
enum class ShownBy { any, segments, graph, breakdown };
ShownBy shown_by(const Session& session, const Finding& finding, const Evidence& evidence);

/// Returns the selection and cursor that show the evidence, also if the run has grown since it was explained.
SelectionState selection_of(const Session& session, const Explained& explained, const Finding& finding,
                            const Evidence& evidence);

/// Returns the evidence of a finding; for a finding without evidence its title, at the time of the explanation.
std::vector<Evidence> steps_of(const Explained& explained, const Finding& finding);

/// Returns the state of the device at which the evidence is shown.
EventNumber time_point_of(const DeviceHistory& device, const Explained& explained, const Evidence& evidence);

}  // namespace tidemark::gui
