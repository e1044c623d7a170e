// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Copies a range of a trace into a separate trace.
#pragma once

#include <map>

#include "storage/trace/graph_tables.h"

namespace tidemark {

/// Events first..last-1 of each device, and their time span (ns since trace start).
struct Stretch {
    struct Range {
        EventNumber first = 0, last = 0;
    };
    std::map<int, Range> events;  ///< by device index; contains every device of the trace
    int64_t start = 0, end = 0;
};

/// Returns the range as a trace. Numbers events from 0 and times from the start of the range. Allocations alive at the
/// start become preexisting; allocations freed after the end become never freed. So every state of the range stays the
/// same. Annotations, steps and driver memory are cut at its borders; the last samples before it move to its start,
/// with the figures of that time. Stacks, streams and pools keep their ids, whether used or not.
///
/// `graph`, if not nullptr, is the trace's graph and becomes that of the range: the nodes that are alive in the range,
/// the data about them and about the copied memory, and the heap scans in the range.
Trace excerpt(const Trace& trace, const Stretch& stretch, GraphTables* graph = nullptr);

}  // namespace tidemark
