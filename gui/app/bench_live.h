// `tidemark-gui --bench-live SECONDS TRACE`: how long it takes from an event to its picture, while a run is recorded.
#pragma once

#include "gui/app/render.h"

namespace tidemark::gui {

/// Follows the trace of `request` in a window until the time is over or the run has ended; prints milliseconds as JSON.
Status bench_live(Application& application, const RenderRequest& request, double seconds);

}  // namespace tidemark::gui
