// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Percentiles of milliseconds as JSON.
#pragma once

#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemark::gui {

inline QJsonObject percentiles(std::vector<double> times) {
    if (times.empty()) {
        return {};
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) {
        return times[static_cast<size_t>(part * static_cast<double>(times.size() - 1))];
    };
    const auto rounded = [](double ms) { return std::round(ms * 100) / 100; };
    return {{"p50_ms", rounded(at(0.5))}, {"p95_ms", rounded(at(0.95))}, {"max_ms", rounded(times.back())}};
}

}  // namespace tidemark::gui
