// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The limits of a trace. Writers keep them, and the reader refuses a file beyond them, so that no count in a forged
// file reserves more memory than the file's size justifies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

/// A row takes at least this much of the file.
constexpr int64_t least_bytes_per_row = 8;
/// A row describes at most its allocation's alloc, free request and free.
constexpr int64_t most_events_per_row = 3;
/// Events of all devices together that no row describes, such as those that a recorder lost.
constexpr int64_t most_events_without_row = int64_t{1} << 20;

/// Returns how many rows of one kind a file of this size can have.
constexpr int64_t most_rows_in(int64_t file_bytes) { return file_bytes / least_bytes_per_row; }
/// Returns how many events a file of this size can have, on all devices together.
constexpr int64_t most_events_in(int64_t file_bytes) {
    return most_rows_in(file_bytes) * most_events_per_row + most_events_without_row;
}

/// Larger than any memory, in bytes.
constexpr uint64_t largest_size = uint64_t{1} << 60;

/// Times are at most this far (9 years, in ns) before or after the start of the trace.
constexpr int64_t longest_time = int64_t{1} << 58;
constexpr bool is_time(int64_t time) { return -longest_time <= time && time <= longest_time; }

/// Texts that rows refer to by id are copied for each row: all copies together, for a file of this size.
constexpr int64_t most_copied_text_in(int64_t file_bytes) { return file_bytes * 16 + (int64_t{4} << 20); }

/// Frames of one stack.
constexpr size_t most_frames_of_stack = size_t{1} << 16;

/// Limit of one text that a recording contains, in bytes: names, paths, the command line, metadata.
constexpr size_t most_text_bytes = size_t{64} << 10;
/// Limits of the source lines that a recording contains: one line, and all lines together, in bytes.
constexpr size_t longest_source_line = 400;
constexpr int64_t most_source_bytes = int64_t{256} << 10;
/// Returns what a line counts towards most_source_bytes. Empty lines take memory, too.
constexpr int64_t counted_source_bytes(size_t text_bytes) { return static_cast<int64_t>(text_bytes) + 16; }
/// Limit of a data gap's arguments as JSON, in bytes. JSON writes one byte with up to six.
constexpr size_t most_argument_bytes = size_t{64} << 10;
constexpr size_t most_bytes_of_details = most_argument_bytes / 8;

}  // namespace tidemark
