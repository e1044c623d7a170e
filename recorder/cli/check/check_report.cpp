// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"
#include "storage/report/markdown.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

std::string_view outcome_word(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds: return "holds";
        case Outcome::broken: return "broken";
        case Outcome::unknown: return "unknown";
    }
    return {};
}

/// Returns the begin of a line. Not translated, so that a log can be searched for it.
std::string_view outcome_mark(Outcome outcome) {
    return outcome == Outcome::holds ? "ok" : outcome == Outcome::broken ? "BROKEN" : "UNKNOWN";
}

int64_t count_of_failed(const std::vector<Checked>& devices) {
    int64_t failed = 0;
    for (const Checked& device : devices) {
        failed += std::count_if(device.limits.begin(), device.limits.end(),
                                [](const Verified& limit) { return limit.outcome != Outcome::holds; });
    }
    return failed;
}

std::string conclusion(const std::vector<Checked>& devices, const Words& words) {
    const int64_t failed = count_of_failed(devices);
    return failed == 0 ? words("All limits hold.")
                       : words.plural(failed, "{n} limit is exceeded or cannot be decided.",
                                      "{n} limits are exceeded or cannot be decided.");
}

/// "rank 3, device 0: ..."
std::string place_text(const Checked& checked, const Words& words, const std::string& reason) {
    const auto device = with("device", checked.device), text = with("text", reason);
    return checked.process.empty()
               ? words("device {device}: {text}", device, text)
               : words("{process}, device {device}: {text}", with("process", checked.process), device, text);
}

ordered_json limit_json(const Verified& limit) {
    return {{"limit", limit.name},
            {"outcome", outcome_word(limit.outcome)},
            {"limit_bytes", or_null(limit.allowed)},
            {"value_bytes", or_null(limit.value)},
            {"baseline_bytes", or_null(limit.baseline)},
            {"reason", limit.reason},
            {"details", limit.details},
            {"line", limit.line},
            {"referrer", limit.referrer},
            {"path", limit.path},
            {"findings", limit.findings}};
}

/// Returns the causes and the retention path, each as a line.
std::vector<std::string> cause_lines(const Verified& limit, const Words& words) {
    std::vector<std::string> lines = limit.details;
    if (!limit.path.empty()) {
        lines.push_back(words("Retention path: {path}", with("path", fmt::format("{}", fmt::join(limit.path, " → ")))));
    }
    return lines;
}

std::string bytes_cell(const std::optional<int64_t>& bytes) { return bytes ? format_bytes(*bytes) : ""; }

/// Returns the value; of findings, their number.
std::string value_cell(const Verified& limit) {
    return limit.value || limit.outcome == Outcome::unknown || limit.allowed ? bytes_cell(limit.value)
                                                                             : std::to_string(limit.findings.size());
}

std::string table_row(const Checked& device, const Verified& limit) {
    const std::string place =
        device.process.empty() ? std::to_string(device.device) : fmt::format("{}, {}", device.process, device.device);
    const std::string mark = limit.outcome == Outcome::holds    ? "✅ ok"
                             : limit.outcome == Outcome::broken ? "❌ BROKEN"
                                                                : "⚠️ UNKNOWN";
    return fmt::format("| {} | {} | {} | {} | {} | {} |\n", mark, limit.name, markdown_escaped(place),
                       value_cell(limit), bytes_cell(limit.allowed), bytes_cell(limit.baseline));
}

std::string reasons(const std::vector<Checked>& devices, const Words& words) {
    std::string text;
    for (const Checked& device : devices) {
        for (const Verified& limit : device.limits) {
            if (limit.outcome == Outcome::holds) {
                continue;
            }
            text += fmt::format("- {}\n", markdown_escaped(place_text(device, words, limit.reason)));
            for (const std::string& line : cause_lines(limit, words)) {
                text += fmt::format("  - {}\n", markdown_escaped(line));
            }
        }
    }
    return text.empty() ? text : '\n' + text;
}

}  // namespace

bool all_hold(const std::vector<Checked>& devices) { return count_of_failed(devices) == 0; }

std::string check_text(const std::vector<Checked>& devices, const Words& words) {
    std::string text;
    for (const Checked& device : devices) {
        for (const Verified& limit : device.limits) {
            text += fmt::format("{:<8} {}\n", outcome_mark(limit.outcome),
                                visible_text(place_text(device, words, limit.reason)));
            for (const std::string& line : cause_lines(limit, words)) {
                text += fmt::format("{:9}{}\n", "", visible_text(line));
            }
        }
    }
    return text + conclusion(devices, words) + '\n';
}

ordered_json check_json(const std::vector<Checked>& devices) {
    auto list = ordered_json::array();
    for (const Checked& device : devices) {
        auto limits = ordered_json::array();
        for (const Verified& limit : device.limits) {
            limits.push_back(limit_json(limit));
        }
        ordered_json checked{{"device", device.device}, {"limits", std::move(limits)}};
        if (!device.process.empty()) {
            checked["process"] = device.process;
        }
        list.push_back(std::move(checked));
    }
    return {{"holds", all_hold(devices)}, {"devices", std::move(list)}};
}

std::string check_markdown(const std::vector<Checked>& devices, const Words& words) {
    std::string text = fmt::format("### {}: {}\n\n| | {} | {} | {} | {} | {} |\n|---|---|---|--:|--:|--:|\n",
                                   words("GPU memory"), conclusion(devices, words), words("Limit"), words("Device"),
                                   words("Value"), words("Allowed"), words("Baseline"));
    for (const Checked& device : devices) {
        for (const Verified& limit : device.limits) {
            text += table_row(device, limit);
        }
    }
    return text + reasons(devices, words);
}

}  // namespace tidemark::cli
