// `tidemark-gui --bench-frames TRACE`: how long frames take while zooming, panning and scrubbing. Prints JSON.
#pragma once

#include "gui/app/render.h"

namespace tidemark::gui {

/// Every frame is measured twice: `complete` paints everything afresh before it returns; `interactive` is what the
/// GUI thread does while pictures are painted in the background.
Status bench_frames(Application& application, const RenderRequest& request);

}  // namespace tidemark::gui
