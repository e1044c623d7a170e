// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a trace may contain. Writers keep to it; readers refuse or report what exceeds it, so that no file needs more
// memory or time than its size justifies.
#pragma once

#include <cstdint>

namespace tidemark {

/// A row of an allocation, segment or other event takes at least this much of the file.
constexpr int64_t least_bytes_per_row = 16;
/// Alloc, free requested, free completed.
constexpr int64_t most_events_per_row = 3;
/// Events of all devices together that no row describes, such as those that a recorder lost.
constexpr int64_t most_events_without_row = int64_t{1} << 20;

/// Returns the most rows that a file of this size can contain.
constexpr int64_t most_rows_in(int64_t file_bytes) { return file_bytes / least_bytes_per_row; }
/// Returns the most events, of all devices together, that a file of this size can contain.
constexpr int64_t most_events_in(int64_t file_bytes) {
    return most_rows_in(file_bytes) * most_events_per_row + most_events_without_row;
}

/// Sizes are smaller than this.
constexpr int64_t most_bytes = int64_t{1} << 60;

/// Times are at most this far (9 years, in ns) before or after the start of the trace.
constexpr int64_t longest_time = int64_t{1} << 58;
constexpr bool is_time(int64_t time) { return -longest_time <= time && time <= longest_time; }

/// Texts that rows refer to by id are copied for each row: all copies together, for a file of this size.
constexpr int64_t most_copied_text_in(int64_t file_bytes) { return file_bytes * 16 + (int64_t{4} << 20); }

}  // namespace tidemark
