// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Where the window shows a piece of evidence.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/model/selection.h"
#include "gui/model/session.h"

namespace tidemark {
struct Evidence;
struct Finding;
}  // namespace tidemark

namespace tidemark::gui {

struct Explained;

/// The pane that shows a piece of evidence best; `any`: the plots show it, so the open pane stays open.
enum class ShownBy { any, segments, graph, breakdown };
ShownBy shown_by(const Session& session, const Finding& finding, const Evidence& evidence);

/// Returns the selection and cursor that show the evidence and the finding's memory, also if the run has grown since it
/// was explained. `finding`: of the explanation.
SelectionState selection_of(const Session& session, const std::shared_ptr<const Explained>& explained,
                            const Finding& finding, const Evidence& evidence);
/// Returns the selection of the finding's memory, and the state in which it exists; nothing if it is not about
/// allocations. `finding`: of the explanation.
std::optional<SelectionState> selection_of_memory(const Session& session,
                                                  const std::shared_ptr<const Explained>& explained,
                                                  const Finding& finding);

/// Returns the evidence of a finding; for a finding without evidence its title, at the time of the explanation.
std::vector<Evidence> steps_of(const Explained& explained, const Finding& finding);

/// Returns the point in time at which the evidence is shown. A time stays what it is: it may lie between two events.
TimePoint time_point_of(const Session& session, const Explained& explained, const Evidence& evidence);

}  // namespace tidemark::gui
