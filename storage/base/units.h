// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Numbers as people read them: binary units with three significant digits, times, addresses, counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// "512 B", "1.50 KiB", "12.3 GiB"; negative values keep their sign.
std::string format_bytes(int64_t bytes);
/// "1,234,567"
std::string format_count(int64_t count);
/// Nanoseconds as "12.3 µs", "4.56 ms", "1.234 s", "2 min 03 s".
std::string format_duration(int64_t nanoseconds);
/// Nanoseconds as seconds since the trace's start, "1.234567 s".
std::string format_time_point(int64_t nanoseconds);
/// "0x7f12a4000000"
std::string format_address(uint64_t address);
/// "10GiB", "512", "1.5 MB" (decimal units are powers of 1000); nothing if the text is not a size.
std::optional<int64_t> parse_bytes(std::string_view text);
/// "1.5s", "300ms", "20us", "7ns"; a bare number is seconds. Result in nanoseconds.
std::optional<int64_t> parse_duration(std::string_view text);

}  // namespace tidemark
