// Where in the window a piece of evidence is seen.
#pragma once

#include <vector>

#include "gui/model/selection.h"
#include "gui/model/session.h"

namespace tidemark {
struct Evidence;
struct Finding;
}  // namespace tidemark

namespace tidemark::gui {

/// The pane that shows a piece of evidence best; `any`: the one that is open does, the plots show it.
enum class ShownBy { any, segments, graph, breakdown };
ShownBy shown_by(const Session& session, const Finding& finding, const Evidence& evidence);

/// What is chosen, and where the cursor stands, to look at it. Also right when the run went on since it was explained.
SelectionState selection_of(const Session& session, const Explained& explained, const Finding& finding,
                            const Evidence& evidence);

/// A finding without evidence is looked at by its own line and the moment it is about.
std::vector<Evidence> steps_of(const Explained& explained, const Finding& finding);

/// The moment it is seen at, as a state of the device.
EventNumber time_point_of(const DeviceHistory& device, const Explained& explained, const Evidence& evidence);

}  // namespace tidemark::gui
