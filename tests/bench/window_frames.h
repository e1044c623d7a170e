// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Measures the time of frames while zooming, panning and scrubbing. Prints JSON.
#pragma once

#include <QSize>
#include <QString>

#include "gui/app/application.h"
#include "storage/base/result.h"

namespace tidemark::gui {

/// Measures the graph pane: reading, the first picture, and frames while zooming and panning. Without a graph, measures
/// only the reading.
Status measure_graph(const QString& trace, QSize size);

/// Measures every frame twice: `complete` paints everything before it returns; `interactive` measures the GUI thread
/// while pictures are painted in the background. `only`: one part, such as timeline or window; empty: all.
Status measure_frames(Application& application, const QString& trace, QSize size, const QString& only);

}  // namespace tidemark::gui
