// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/html_colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

constexpr int component_count = static_cast<int>(ComponentKind::unknown) + 1;
constexpr int severity_count = static_cast<int>(Severity::background) + 1;
constexpr int heat_steps = 32;

/// The custom properties of the style sheet.
std::vector<std::pair<std::string, KeyColor>> properties() {
    std::vector<std::pair<std::string, KeyColor>> all;
    all.reserve(category_count + component_count + series_count + severity_count + heat_steps);
    for (int c = 0; c < category_count; ++c) {
        all.emplace_back(fmt::format("--category-{}", c), category_key(static_cast<Category>(c)));
    }
    for (int kind = 0; kind < component_count; ++kind) {
        all.emplace_back(fmt::format("--component-{}", kind), component_key(static_cast<ComponentKind>(kind)));
    }
    for (int s = 0; s < series_count; ++s) {
        all.emplace_back(fmt::format("--series-{}", s), series_key(static_cast<Series>(s)));
    }
    for (int s = 0; s < severity_count; ++s) {
        const auto severity = static_cast<Severity>(s);
        all.emplace_back(fmt::format("--{}", severity_word(severity)), severity_key(severity));
    }
    for (int step = 0; step < heat_steps; ++step) {
        all.emplace_back(fmt::format("--heat-{}", step), heat_key(step / (heat_steps - 1.0)));
    }
    return all;
}

std::string fill_rule(std::string_view name, int number) {
    return fmt::format("path.{0}-{1} {{ fill: var(--{0}-{1}); }} i.{0}-{1} {{ background: var(--{0}-{1}); }}\n", name,
                       number);
}

}  // namespace

KeyColor severity_key(Severity severity) {
    switch (severity) {
        case Severity::leak: return {0xb34700, 0xf07f2e};
        case Severity::failure: return {0xc61a09, 0xff6b5b};
        case Severity::waste: return {0x8a6400, 0xe6b82c};
        case Severity::pattern: return {0x0068a3, 0x56b4e9};
        case Severity::background: break;
    }
    return {0x5a6573, 0x98a4b3};
}

KeyColor series_key(Series series) {
    switch (series) {
        case Series::allocated: return {0x202833, 0xeef1f5};
        case Series::active: return {0x8a5a00, 0xf0b94a};
        case Series::requested: return {0x3a7d44, 0x7ccf8a};
        case Series::reserved: break;
    }
    return {0x005fb0, 0x5cb2ff};
}

std::string key_class(Category category) { return fmt::format("category-{}", static_cast<int>(category)); }
std::string key_class(ComponentKind kind) { return fmt::format("component-{}", static_cast<int>(kind)); }
std::string key_class(Series series) { return fmt::format("series-{}", static_cast<int>(series)); }

std::string heat_class(double value) {
    return fmt::format("heat-{}", static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * (heat_steps - 1))));
}

std::string html_colors() {
    std::string light, dark, rules;
    for (const auto& [name, key] : properties()) {
        light += fmt::format("{}: #{:06x}; ", name, key.light);
        dark += fmt::format("{}: #{:06x}; ", name, key.dark);
    }
    for (int c = 0; c < category_count; ++c) {
        rules += fill_rule("category", c);
    }
    for (int kind = 0; kind < component_count; ++kind) {
        rules += fill_rule("component", kind);
    }
    for (int s = 0; s < series_count; ++s) {
        rules += fmt::format(
            "path.series-{0} {{ stroke: var(--series-{0}); }} i.series-{0} {{ border-color: "
            "var(--series-{0}); }}\n",
            s);
    }
    for (int s = 0; s < severity_count; ++s) {
        rules += fmt::format(".{0} {{ color: var(--{0}); }}\n", severity_word(static_cast<Severity>(s)));
    }
    for (int step = 0; step < heat_steps; ++step) {
        rules += fmt::format("rect.heat-{0} {{ fill: var(--heat-{0}); }}\n", step);
    }
    return fmt::format(":root {{ {}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {}}} }}\n{}", light, dark,
                       rules);
}

}  // namespace tidemark
