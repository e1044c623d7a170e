// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Derives what a trace holds (lifetimes of allocations with their true block sizes, segments, the order of events) from
// what an allocator reported: events, and the state at their end.
//
// Events carry requested sizes only. Block sizes follow from the allocator's rules, which an EventFolder applies
// forward from the start state (history_start.h). The result is compared with the reported final state. What is not
// known or does not agree becomes a data gap.
#pragma once

#include <vector>

#include "storage/import/snapshot.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Converts µs since the epoch to ns since the trace's start; absurd times are clamped to what an int64 can hold.
int64_t trace_time(int64_t time_us, int64_t zero_us);

/// Returns the history of one device. Stack, stream and pool ids are the snapshot's; origins are its context indexes.
/// Times are ns since `zero_us` (µs since the epoch), or the event number in µs where there are none.
DeviceHistory derive_history(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps);

}  // namespace tidemark
