// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Numbers from doubles of any size: a C++ cast of a value that does not fit is undefined.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

namespace tidemark {

/// Rounds toward zero. A value that does not fit becomes the nearest that does; NaN becomes 0.
template <std::integral Int>
Int saturated(double value) {
    using Limits = std::numeric_limits<Int>;
    const double beyond = std::ldexp(1.0, Limits::digits);  // the smallest power of two that does not fit
    if (std::isnan(value)) {
        return 0;
    }
    if (value >= beyond) {
        return Limits::max();
    }
    return value <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<Int>(value);
}

}  // namespace tidemark
