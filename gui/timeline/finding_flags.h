// Where on the time axis findings are: a flag where each begins, and the moments of its evidence.
#pragma once

#include <vector>

#include "gui/model/session.h"

namespace tidemark {
enum class Severity : uint8_t;
}

namespace tidemark::gui {

struct FindingFlag {
    int finding = 0;  ///< position in Explanation::findings
    int number = 0;   ///< as its card says
    Severity severity{};
    EventNumber event = 0;
};

/// Of all findings but those that every program has. Without an explanation: none.
std::vector<FindingFlag> finding_flags(const Session& session);

/// The states at which the chosen finding's evidence is seen, rising; empty: none is chosen.
std::vector<EventNumber> selected_time_points(const Session& session);

/// What the pointer reads over a flag, as rich text.
QString flag_tip(const Session& session, const FindingFlag& flag);

}  // namespace tidemark::gui
