// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Readable numbers: binary units with three significant digits, times, addresses, counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Returns "512 B", "1.50 KiB" or "12.3 GiB". Negative values keep their sign.
std::string format_bytes(int64_t bytes);
/// Returns "1,234,567".
std::string format_count(int64_t count);
/// Formats nanoseconds as "12.3 µs", "4.56 ms", "1.234 s", "2 min 03 s".
std::string format_duration(int64_t nanoseconds);
/// Formats nanoseconds since trace start as seconds: "1.234567 s".
std::string format_time_point(int64_t nanoseconds);
/// Returns "0x7f12a4000000".
std::string format_address(uint64_t address);
/// Parses "10GiB", "512", "1.5 MB" (decimal units are powers of 1000). Returns bytes; nothing if the text is not a
/// size.
std::optional<int64_t> parse_bytes(std::string_view text);
/// Parses "1.5s", "300ms", "20us", "7ns"; a number without unit means seconds. Returns nanoseconds.
std::optional<int64_t> parse_duration(std::string_view text);

}  // namespace tidemark
