// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/charts.h"

#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/report/chart_parts.h"

namespace tidemark {
namespace {

bool counts_steps(const ReportInput& reported) {
    return reported.context.iterations().source() == IterationSource::steps;
}

struct Levels {
    std::vector<double> numbers;  ///< iteration numbers
    std::vector<int64_t> bytes;
};

/// Omits the warm-up of a long run (the first two iterations), which would make the rest look flat.
Levels after_warm_up(const Iterations& iterations, std::span<const int64_t> values) {
    constexpr size_t warm_up = 2, enough = 6;
    Levels levels;
    for (size_t i = values.size() > enough ? warm_up : 0; i < values.size(); ++i) {
        levels.numbers.push_back(static_cast<double>(iterations[i].number));
        levels.bytes.push_back(values[i]);
    }
    return levels;
}

std::string levels_plot(const Levels& levels, const std::string& label) {
    const Range up = range_of(levels.bytes);
    const double first = levels.numbers.front(), last = levels.numbers.back();
    Plot plot({960, 200, 10}, {first, last}, up);
    plot.axes(number_ticks(static_cast<int64_t>(first), static_cast<int64_t>(last)),
              byte_ticks(static_cast<int64_t>(up.low), static_cast<int64_t>(up.high)));
    plot.line(levels.numbers, std::vector<double>(levels.bytes.begin(), levels.bytes.end()), "level");
    for (size_t i = 0; i < levels.bytes.size(); ++i) {
        constexpr size_t most_dots = 300;
        const std::string_view css = levels.bytes.size() > most_dots ? "column" : "level";
        plot.dot(levels.numbers[i], static_cast<double>(levels.bytes[i]), css,
                 fmt::format("{}: {}", levels.numbers[i], format_bytes(levels.bytes[i])));
    }
    return plot.svg(label);
}

}  // namespace

ShownTime charted_time(const ReportInput& reported) {
    return used_time(reported.context.trace(), reported.context.device(), reported.context.trace().duration);
}

std::string floor_chart(const ReportInput& reported, const Words& words) {
    const std::vector<int64_t>& floor = reported.context.allocated_floor();
    if (floor.size() < 3 || floor.size() != reported.context.iterations().size()) {
        return {};
    }
    const Levels levels = after_warm_up(reported.context.iterations(), floor);
    const std::string title = counts_steps(reported)
                                  ? words("What stays: the lowest allocated memory of each step")
                                  : words("What stays: the lowest allocated memory of each iteration");
    return figure_of(title, levels_plot(levels, title));
}

}  // namespace tidemark
