// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "storage/base/saturated.h"

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr int most_decimals = 2;  // of bytes; a label with more is written in a smaller unit

double in_unit(double bytes, int unit) { return bytes / std::exp2(10 * unit); }

/// Returns the decimals a number needs to be exact, at most 6.
int decimals_of(double number) {
    int decimals = 0;
    for (double x = number; decimals < 6 && std::fabs(x - std::round(x)) > 1e-9; x *= 10) {
        ++decimals;
    }
    return decimals;
}

int largest_unit_of(double bytes) {
    const int magnitude = saturated<int>(std::log2(std::max(std::fabs(bytes), 1.0)) / 10);
    return std::clamp(magnitude, 0, static_cast<int>(units.size()) - 1);
}

/// Returns the number with thousands separators and without trailing zeros of its fraction.
std::string grouped(double number, int decimals) {
    std::string text = fmt::format("{:.{}f}", number, decimals);
    size_t point = text.find('.');
    if (point != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        text.erase(text.find_last_not_of('.') + 1);
    }
    point = std::min(point, text.size());
    for (const size_t first = number < 0 ? 1 : 0; point > first + 3; point -= 3) {
        text.insert(point - 3, 1, ',');
    }
    return text;
}

}  // namespace

double byte_tick_step(double span, int count) {
    const double least = span / std::max(count, 1);
    if (!(least > 1) || !std::isfinite(least)) {
        return 1;
    }
    return std::exp2(std::ceil(std::log2(least)));
}

double decimal_tick_step(double span, int count) {
    const double least = span / std::max(count, 1);
    const double power = std::pow(10, std::floor(std::log10(least)));
    if (!(least > 0) || !std::isnormal(power)) {
        return 1;
    }
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least) {
            return factor * power;
        }
    }
    return 10 * power;
}

std::string byte_tick_label(double bytes, double step) {
    if (bytes == 0) {
        return "0";
    }
    int unit = largest_unit_of(bytes);
    while (unit > 0 && decimals_of(in_unit(step, unit)) > most_decimals) {
        --unit;
    }
    return fmt::format("{} {}", grouped(in_unit(bytes, unit), decimals_of(in_unit(step, unit))),
                       units[static_cast<size_t>(unit)]);
}

std::string time_tick_label(double time, double step) {
    constexpr double second = 1e9;
    constexpr std::string_view narrow_space = "\u202f";
    const int decimals = std::clamp(saturated<int>(std::ceil(-std::log10(step / second) - 1e-9)), 0, 9);
    std::string text = fmt::format("{:.{}f}", time / second, decimals);
    const size_t point = text.find('.');
    for (size_t end = point + 4; point != std::string::npos && end < text.size(); end += 3 + narrow_space.size()) {
        text.insert(end, narrow_space);
    }
    return text + " s";
}

}  // namespace tidemark
