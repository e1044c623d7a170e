// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// `tidemark-gui --render`: one picture of a trace, without showing a window.
#pragma once

#include <QSize>
#include <QStringList>
#include <memory>
#include <optional>
#include <utility>

#include "storage/attribution/attribution.h"
#include "storage/base/result.h"

namespace tidemark::gui {

class Application;
class Session;

struct RenderRequest {
    QString view = QStringLiteral("window");  ///< one of view_names()
    QString at = QStringLiteral("peak");
    std::optional<GroupBy> stack_by;  ///< the grouping of stacked pictures; nothing: the window's default
    QString pane;  ///< of a window: "segments", "graph", "table", "summary", "changes" (from the begin to `at`),
                   ///< "calltree", "sql" (with the rows of its first example), ...: the keys in render.cpp; empty: the
                   ///< first
    QSize size{1600, 900};
    double scale = 1;  ///< device pixels per pixel
    QString output;
    QString trace;
    std::optional<int> device;
    QString compared_trace;                                     ///< of a window: the other trace; empty: none
    std::optional<std::pair<int64_t, int64_t>> compared_steps;  ///< of a window: the numbers of two steps
    std::optional<int> finding;  ///< of why and window: the number on the card of the finding to show
};

/// Parses "1600x900"; nothing if it is no size from 100x100 to 16384x16384.
std::optional<QSize> parse_size(const QString& text);
/// Returns the names of all views of the window, and "window".
QStringList view_names();
/// Opens the trace and draws it in the theme and language of the application.
Status render(Application& application, const RenderRequest& request);
/// Draws an open trace.
Status render(Application& application, const std::shared_ptr<Session>& session, const RenderRequest& request);

}  // namespace tidemark::gui
