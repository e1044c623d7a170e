// Describes a trace as a whole: file, run, process, settings.
#pragma once

#include "gui/model/session.h"
#include "gui/widgets/report.h"

namespace tidemark::gui {

Report describe_trace(const Session& session);

}  // namespace tidemark::gui
