// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/live/live_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "recorder/cli/describe.h"
#include "storage/base/utf8.h"
#include "storage/report/code_block.h"
#include "storage/report/layout.h"
#include "storage/report/phrases.h"

namespace tidemark::cli {
namespace {

enum class Style : uint8_t { plain, title, heading, faint, alarm, warning };

std::string_view escape_of(Style style) {
    switch (style) {
        case Style::title: return "\x1b[7m";
        case Style::heading: return "\x1b[1m";
        case Style::faint: return "\x1b[2m";
        case Style::alarm: return "\x1b[31m";
        case Style::warning: return "\x1b[33m";
        case Style::plain: break;
    }
    return {};
}

/// The lines of a frame under construction.
class Lines {
public:
    Lines(TerminalSize size, bool colors)
        : columns_(static_cast<size_t>(std::max(size.columns, 1))), rows_(std::max(size.rows, 1)), colors_(colors) {}

    size_t columns() const { return columns_; }
    int left() const { return rows_ - count_; }
    void add(std::string_view line, Style style = Style::plain) {
        if (left() <= 0) {
            return;
        }
        const std::string fitted = fit_columns(visible_text(line), columns_);
        const std::string_view escape = colors_ ? escape_of(style) : std::string_view();
        text_ += count_++ == 0 ? "" : "\n";
        text_ += escape.empty() ? fitted : fmt::format("{}{}\x1b[0m", escape, fitted);
    }
    std::string take() { return std::move(text_); }

private:
    size_t columns_;
    int rows_, count_ = 0;
    bool colors_;
    std::string text_;
};

/// The rows for each list. The sites get most.
struct Rows {
    int sites = 0, components = 0, findings = 0;

    /// `available`: without the other lines.
    Rows(const LiveView& view, int available) {
        const auto wanted = [](size_t count) { return std::max(static_cast<int>(count), 1); };
        const int all_findings = wanted(view.findings ? view.findings->size() : 1);
        findings = std::min(all_findings, std::max(available / 4, 2));
        components = std::min(wanted(view.components.size()), std::max(available / 3, 2));
        sites = std::max(std::min(wanted(view.sites.size()), available - findings - components), 1);
        findings = std::min(all_findings, std::max(available - sites - components, findings));
    }
};

std::string pad_left(const std::string& text, size_t width) {
    const size_t columns = display_width(text);
    return std::string(width - std::min(columns, width), ' ') + text;
}

/// A row of a table: three numbers and a text.
struct Columns {
    std::string bytes, share, third, name;

    std::string row() const {
        return fmt::format("{}  {}  {}  {}", pad_left(bytes, 10), pad_left(share, 8), pad_left(third, 12), name);
    }
};

std::string state_of(const LiveView& view, const Words& words) {
    return !view.is_recording        ? words("the recording has ended")
           : view.details_are_paused ? words("details paused")
                                     : words("recording");
}

std::string title_line(const LiveView& view, size_t columns, const Words& words) {
    const std::string state = words("{state}, {duration}", with("state", state_of(view, words)),
                                    with("duration", format_duration(view.duration)));
    const size_t room = columns - std::min(columns, display_width(state) + 3);
    return pad_right(" " + fit_columns(visible_text(view.trace), room), room + 1) + " " + state + " ";
}

std::string memory_line(const LiveView& view, const Words& words) {
    if (view.devices == 0) {
        return words("No device has been used yet.");
    }
    const std::string used = !view.device_used ? ""
                             : view.device_total == 0
                                 ? words("in use {used}", with("used", format_bytes(*view.device_used)))
                                 : words("in use {used} of {total}", with("used", format_bytes(*view.device_used)),
                                         with("total", format_bytes(view.device_total)));
    std::vector<std::string> parts{words("allocated {bytes}", with("bytes", format_bytes(view.allocated))),
                                   words("reserved {bytes}", with("bytes", format_bytes(view.reserved))),
                                   words("peak {bytes}", with("bytes", format_bytes(view.peak)))};
    if (!used.empty()) {
        parts.push_back(used);
    }
    return words("Device {device}: {values}", with("device", view.device),
                 with("values", fmt::format("{}", fmt::join(parts, words(", ")))));
}

std::string progress_line(const LiveView& view, const Words& words) {
    std::vector<std::string> parts{words.plural(view.events, "{n} event", "{n} events"),
                                   words.plural(view.steps, "{n} step", "{n} steps")};
    if (view.steps_per_second) {
        parts.push_back(words("{rate} steps/s", with("rate", fmt::format("{:.1f}", *view.steps_per_second))));
    }
    parts.push_back(view.cost
                        ? words("recording cost {share}", with("share", Words::percent(view.cost->of_time))) + " " +
                              words("(longest pause {pause})", with("pause", format_duration(view.cost->longest_pause)))
                        : words("recording cost unknown"));
    return fmt::format("{}", fmt::join(parts, words(", ")));
}

std::string change_text(const std::optional<int64_t>& bytes) {
    return !bytes ? "" : *bytes == 0 ? "0" : (*bytes > 0 ? "+" : "") + format_bytes(*bytes);
}

void add_sites(Lines& lines, const LiveView& view, int rows, const Words& words) {
    lines.add(Columns{words("Live bytes"), words("Share"), words("Per step"), words("Allocated by")}.row(),
              Style::heading);
    const size_t shown = std::min(view.sites.size(), static_cast<size_t>(rows));
    for (size_t i = 0; i < shown; ++i) {
        const LiveSite& site = view.sites[i];
        const bool grows = site.per_step && *site.per_step > 0;
        lines.add(Columns{format_bytes(site.bytes), Words::percent(share(site.bytes, view.site_bytes)),
                          change_text(site.per_step), site.name}
                      .row(),
                  grows ? Style::warning : Style::plain);
    }
    if (shown == 0) {
        lines.add(words("No memory is allocated."), Style::faint);
    }
}

void add_components(Lines& lines, const LiveView& view, int rows, const Words& words) {
    lines.add(words("Memory breakdown"), Style::heading);
    int64_t total = 0;
    for (const auto& [name, bytes] : view.components) {
        total += bytes;
    }
    const size_t shown = std::min(view.components.size(), static_cast<size_t>(rows));
    for (size_t i = 0; i < shown; ++i) {
        const auto& [name, bytes] = view.components[i];
        lines.add(Columns{format_bytes(bytes), Words::percent(share(bytes, total)), "", name}.row());
    }
    if (shown == 0) {
        lines.add(words("Nothing is known yet."), Style::faint);
    }
}

Style style_of(Severity severity) {
    return severity == Severity::leak || severity == Severity::failure ? Style::alarm
           : severity == Severity::waste                               ? Style::warning
                                                                       : Style::plain;
}

void add_findings(Lines& lines, const LiveView& view, int rows, const Words& words) {
    lines.add(view.findings ? words("Findings at {time}", with("time", format_time_point(view.explained_at)))
                            : words("Findings"),
              Style::heading);
    if (!view.findings) {
        lines.add(words("The explanation is being computed."), Style::faint);
    } else if (view.findings->empty()) {
        lines.add(words("No findings."), Style::faint);
    } else {
        const size_t shown = std::min(view.findings->size(), static_cast<size_t>(rows));
        for (size_t i = 0; i < shown; ++i) {
            const LiveFinding& finding = (*view.findings)[i];
            lines.add(fmt::format("  {}  {}", severity_title(words, finding.severity), finding.title),
                      style_of(finding.severity));
        }
    }
}

}  // namespace

std::string live_frame(const LiveView& view, TerminalSize size, bool colors, bool has_keys, const Words& words) {
    constexpr int fewest_columns = 40, fewest_rows = 10;
    constexpr int lines_around = 6;  // the first three, and the heads of three lists
    Lines lines(size, colors);
    lines.add(title_line(view, lines.columns(), words), Style::title);
    lines.add(memory_line(view, words));
    lines.add(progress_line(view, words));
    const int keys = has_keys && size.rows >= fewest_rows ? 1 : 0;
    if (size.columns >= fewest_columns && size.rows >= fewest_rows) {
        const Rows rows(view, lines.left() - (lines_around - 3) - keys);
        add_sites(lines, view, rows.sites, words);
        add_components(lines, view, rows.components, words);
        add_findings(lines, view, rows.findings, words);
    }
    if (keys > 0) {
        while (lines.left() > 1) {
            lines.add("");
        }
        lines.add(view.devices > 1 ? words("q: quit   d: next device") : words("q: quit"), Style::faint);
    }
    return lines.take();
}

}  // namespace tidemark::cli
