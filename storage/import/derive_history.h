// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Derives the content of a trace (lifetimes of allocations with their true block sizes, segments, the order of events)
// from an allocator's events and its state after them.
//
// Events contain requested sizes only. Block sizes follow from the allocator's rules, which an EventFolder applies
// forward from the start state (history_start.h). The result is compared with the reported final state. Unknown or
// contradictory data becomes a data gap.
#pragma once

#include <vector>

#include "storage/import/snapshot.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Converts µs since the epoch to ns since trace start. Times out of range are clamped to the limits of int64.
int64_t trace_time(int64_t time_us, int64_t zero_us);

/// Returns the history of one device. Stack, stream and pool ids are the snapshot's; origins are its context indexes.
/// Times are ns since `zero_us` (µs since the epoch), or the event number in µs if events have no times.
DeviceHistory derive_history(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps);

}  // namespace tidemark
