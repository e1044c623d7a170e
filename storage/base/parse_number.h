// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace tidemark {

/// Returns the whole text as a number, in the C locale; nothing for other texts, and for numbers that do not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// Returns the same of a number that is not negative.
inline std::optional<int64_t> parse_count(std::string_view text) {
    const auto number = parse_number<int64_t>(text);
    return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace tidemark
