// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Titles and figures of the boxes of a graph picture.
#pragma once

#include <QCoreApplication>

#include "gui/graph/graph_outline.h"

namespace tidemark::gui {

/// The translation context of the drawing.
struct GraphMap {
    Q_DECLARE_TR_FUNCTIONS(GraphMap)
};

/// Returns "3 never backpropagated, 2 released".
QString states_text(const GroupTotals& totals);
/// Returns "SumBackward0, s01.py:31".
QString place_text(const GraphIndex& index, NodeIndex node);
/// Returns the path of the innermost module around a group's nodes: "GPT.transformer.h.3"; empty outside modules.
std::string module_path(const GraphOutline& outline, const OutlineGroup& group);
/// Returns "GPT.transformer", "GPT.h.0 to h.11 (12×)" or "100 graphs like this".
QString group_text(const GraphIndex& index, const GraphOutline& outline, const OutlineGroup& group);

}  // namespace tidemark::gui
