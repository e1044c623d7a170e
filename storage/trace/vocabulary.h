// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The enumerations of a trace. Files contain their numbers: never renumber, only append.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tidemark {

/// One allocator action, in the order of c10::CachingDeviceAllocator::TraceEntry::Action.
enum class Action : uint8_t {
    alloc = 0,
    free_requested = 1,
    free_completed = 2,
    segment_alloc = 3,
    segment_free = 4,
    segment_map = 5,
    segment_unmap = 6,
    snapshot = 7,
    oom = 8,
    unknown = 9,  ///< an action of a newer PyTorch: stored and counted, but not interpreted
};

/// Returns PyTorch's name ("free_requested"), or "unknown".
std::string_view action_name(Action action);
Action action_from_name(std::string_view name);

/// Position in a device's event sequence. The state "at event N" is the state after the first N events.
using EventNumber = int32_t;
constexpr EventNumber before_history = -1;                              ///< happened before event 0
constexpr EventNumber never = std::numeric_limits<EventNumber>::max();  ///< did not happen before the trace ended
/// The number of an event in a file. Events whose rows were deleted keep their numbers there; in memory, the remaining
/// events are numbered without gaps (EventNumber).
using FileEvent = int64_t;
constexpr FileEvent never_in_file = std::numeric_limits<FileEvent>::max();
/// Changes the width of a number. "Never" and "before the history" keep their meaning.
template <class To, class From>
constexpr To event_as(From event) {
    return event == std::numeric_limits<From>::max() ? std::numeric_limits<To>::max() : static_cast<To>(event);
}

/// Row ids of allocations and other events contain their device and sequence number. Allocations that were alive before
/// event 0 have ids in the upper half.
constexpr int64_t event_id_shift = 40;
constexpr int64_t preexisting_bit = int64_t{1} << (event_id_shift - 1);
constexpr int64_t event_id(int device, int64_t sequence) { return (int64_t{device} << event_id_shift) | sequence; }
constexpr int64_t preexisting_id(int device, int64_t ordinal) { return event_id(device, preexisting_bit | ordinal); }
/// Devices of one process. PyTorch itself allows 120.
constexpr int max_devices = 128;

/// The kind of a data gap. Data gaps are rows; they are drawn and reported.
enum class DataGapKind : uint8_t {
    history_truncated = 0,    ///< a ring buffer dropped the beginning; the start state was derived from the end
    block_size_guessed = 1,   ///< the true size of a block could not be derived; the rounded request is used
    events_inconsistent = 2,  ///< events contradict each other or the final state (count in `count`)
    unknown_actions = 3,      ///< actions this version does not know (count in `count`)
    pool_unknown = 4,         ///< segments whose private pool is unknown (count in `count`)
    recorder_overrun = 5,     ///< the recorder's ring was full
    unclean_end = 6,          ///< the recorder did not end the trace
    no_stacks = 7,            ///< events without any stack (count in `count`, bytes in `bytes`)
    no_times = 8,             ///< the source has no times; the event number is used, one µs per event
    redacted = 9,             ///< strings were replaced, or a part was removed before sharing
    not_recorded = 10,        ///< a part of the recorder could not work; the text contains the reason and the fix
    state_disagrees = 11,     ///< the replayed state and PyTorch's own snapshot differ (blocks in `count`)
    unknown = 12,             ///< of a newer version of Tidemark
    damaged = 13,             ///< the file is not as it was written, or its rows contradict each other
};
constexpr int data_gap_kind_count = 14;
std::string_view data_gap_name(DataGapKind kind);
DataGapKind data_gap_from_name(std::string_view name);

/// Whether a file is as it was written. Not in files.
enum class Integrity : uint8_t {
    no_checksums,  ///< formats 1 to 3
    unfinished,    ///< being written, or its writer was killed
    not_checked,   ///< too large to be checked whenever it is opened
    intact,        ///< every byte is
    changed,       ///< a data gap tells what
};
/// Returns "intact".
std::string_view integrity_name(Integrity integrity);

enum class BlockState : uint8_t { inactive = 0, allocated = 1, pending_free = 2 };

}  // namespace tidemark
