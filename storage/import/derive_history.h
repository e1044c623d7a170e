// From what an allocator reported (events, and the state at their end) to what a trace holds: lives of allocations with
// their true block sizes, segments, the order of events.
//
// Events carry requested sizes only; block sizes follow from the allocator's rules, applied forwards from the start
// state. A history that lost its beginning gets its start state from its end: whoever is freed but never allocated,
// or is there at the end without having been allocated, was there before. The result is compared with the reported
// final state; what cannot be known or does not agree becomes a Loss.
#pragma once

#include <vector>

#include "storage/import/snapshot.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// µs since the epoch as ns since the trace's start; absurd times end at what an int64 can hold.
int64_t trace_time(int64_t time_us, int64_t zero_us);

/// History of one device. Stack, stream and pool ids are the snapshot's; origins are its context indexes.
/// Times are ns since `zero_us` (µs since the epoch), or the event number in µs where there are none.
DeviceHistory derive_history(const Snapshot& snapshot, int device, int64_t zero_us, std::vector<DataGap>& data_gaps);

}  // namespace tidemark
