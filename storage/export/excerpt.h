// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A range of a trace as a separate trace.
#pragma once

#include <map>

#include "storage/trace/graph_tables.h"

namespace tidemark {

/// Events first..last-1 of each device, and the time they span (ns since the trace's start).
struct Stretch {
    struct Range {
        EventNumber first = 0, last = 0;
    };
    std::map<int, Range> events;  ///< by device index; every device of the trace
    int64_t start = 0, end = 0;
};

/// Numbers events from 0 and times from the start of the range. What was alive at the start becomes preexisting, what
/// was freed after the end was never freed: every state of the range is as it was. Annotations, steps and driver memory
/// are cut at its borders; of the samples before it the last ones move to its start. Stacks, streams and pools keep
/// their ids, used or not. `graph`, if there is one, is the trace's and becomes that of the range: the nodes alive in
/// it and what is said of them and of the memory that is left; the searches of the heap within it.
Trace excerpt(const Trace& trace, const Stretch& stretch, GraphTables* graph = nullptr);

}  // namespace tidemark
