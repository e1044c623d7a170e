// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tidemark {

namespace {

/// Returns three significant digits, never in scientific notation.
std::string three_digits(double value) {
    const double magnitude = std::fabs(value);
    const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}", value, decimals);
}

struct Unit {
    std::string_view name;
    double factor;
};

/// Splits "1.5 MB" into its number and its trimmed unit; nothing if the text does not start with a number.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number)) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    return std::pair{number, text};
}

template <size_t N>
std::optional<int64_t> parse_scaled(std::string_view text, const std::array<Unit, N>& units) {
    const auto parts = split_number(text);
    if (!parts) {
        return std::nullopt;
    }
    for (const Unit& unit : units) {
        if (unit.name == parts->second) {
            const double value = std::round(parts->first * unit.factor);
            if (std::fabs(value) < 9.2e18) {
                return static_cast<int64_t>(value);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::string format_bytes(int64_t bytes) {
    constexpr std::array names{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes > -1024 && bytes < 1024) {
        return fmt::format("{} B", bytes);
    }
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (std::fabs(value) >= 1023.5 && unit + 1 < names.size()) {
        value /= 1024;
        ++unit;
    }
    return three_digits(value) + ' ' + names[unit];
}

std::string format_count(int64_t count) {
    std::string digits = fmt::format("{}", count);
    const size_t first = count < 0 ? 1 : 0;
    for (size_t i = digits.size(); i > first + 3; i -= 3) {
        digits.insert(i - 3, 1, ',');
    }
    return digits;
}

std::string format_duration(int64_t nanoseconds) {
    const double ns = static_cast<double>(nanoseconds);
    const double magnitude = std::fabs(ns);
    if (magnitude < 1e3) {
        return fmt::format("{} ns", nanoseconds);
    }
    if (magnitude < 1e6) {
        return three_digits(ns / 1e3) + " µs";
    }
    if (magnitude < 1e9) {
        return three_digits(ns / 1e6) + " ms";
    }
    if (magnitude < 60e9) {
        return three_digits(ns / 1e9) + " s";
    }
    const int64_t seconds = nanoseconds / 1'000'000'000;
    if (magnitude < 3600e9) {
        return fmt::format("{} min {:02} s", seconds / 60, std::llabs(seconds % 60));
    }
    return fmt::format("{} h {:02} min", seconds / 3600, std::llabs(seconds / 60 % 60));
}

std::string format_time_point(int64_t nanoseconds) {
    return fmt::format("{:.6f} s", static_cast<double>(nanoseconds) / 1e9);
}

std::string format_address(uint64_t address) { return fmt::format("{:#x}", address); }

std::optional<int64_t> parse_bytes(std::string_view text) {
    static constexpr std::array units{Unit{"", 1},
                                      Unit{"B", 1},
                                      Unit{"kB", 1e3},
                                      Unit{"KB", 1e3},
                                      Unit{"MB", 1e6},
                                      Unit{"GB", 1e9},
                                      Unit{"TB", 1e12},
                                      Unit{"KiB", 1024.},
                                      Unit{"MiB", 1048576.},
                                      Unit{"GiB", 1073741824.},
                                      Unit{"TiB", 1099511627776.},
                                      Unit{"k", 1024.},
                                      Unit{"K", 1024.},
                                      Unit{"M", 1048576.},
                                      Unit{"G", 1073741824.}};
    return parse_scaled(text, units);
}

std::optional<int64_t> parse_duration(std::string_view text) {
    static constexpr std::array units{Unit{"", 1e9},   Unit{"s", 1e9}, Unit{"ms", 1e6},  Unit{"us", 1e3},
                                      Unit{"µs", 1e3}, Unit{"ns", 1},  Unit{"min", 60e9}};
    return parse_scaled(text, units);
}

}  // namespace tidemark
