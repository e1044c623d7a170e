// `tidemark-gui --bench-frames TRACE`: how long frames take while zooming, panning and scrubbing. Prints JSON.
#pragma once

#include <QJsonObject>

#include "gui/app/render.h"

namespace tidemark::gui {

class Session;

/// Of the graph pane: reading, the first picture, and frames while zooming and moving. Without a graph only the
/// reading.
QJsonObject bench_graph(Session& session, QSize size);

/// Every frame is measured twice: `complete` paints everything afresh before it returns; `interactive` is what the
/// GUI thread does while pictures are painted in the background.
Status bench_frames(Application& application, const RenderRequest& request);

}  // namespace tidemark::gui
