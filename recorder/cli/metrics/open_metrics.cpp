// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/metrics/open_metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/utf8.h"

namespace tidemark::cli {
namespace {

/// Returns a label's value with escapes. Hidden characters are visible.
std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : visible_text(value)) {
        if (c == '\\' || c == '"') {
            text += '\\';
        }
        text += c;
    }
    return text;
}

/// Returns the end that the format adds to the family's name for samples of a type.
std::string_view ending_of(std::string_view type) {
    return type == "counter" ? "_total" : type == "info" ? "_info" : "";
}

}  // namespace

void OpenMetrics::add(const Metric& metric, const MetricLabels& labels, MetricValue value) {
    auto family = std::find_if(families_.begin(), families_.end(),
                               [&](const Family& known) { return std::string_view(known.metric.name) == metric.name; });
    if (family == families_.end()) {
        families_.push_back({metric, ""});
        family = std::prev(families_.end());
    }
    std::string& text = family->samples;
    text += fmt::format("{}{}", metric.name, ending_of(metric.type));
    for (size_t i = 0; i < labels.size(); ++i) {
        text += fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', labels[i].first, escaped(labels[i].second));
    }
    text += labels.empty() ? " " : "} ";
    text += std::visit([](auto number) { return fmt::to_string(number); }, value) + '\n';
}

std::string OpenMetrics::text() const {
    std::string text;
    for (const Family& family : families_) {
        const Metric& metric = family.metric;
        text += fmt::format("# TYPE {} {}\n", metric.name, metric.type);
        if (*metric.unit != '\0') {
            text += fmt::format("# UNIT {} {}\n", metric.name, metric.unit);
        }
        text += fmt::format("# HELP {} {}\n{}", metric.name, metric.help, family.samples);
    }
    return text + "# EOF\n";
}

}  // namespace tidemark::cli
