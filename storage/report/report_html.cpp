// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "storage/base/units.h"
#include "storage/report/charts.h"
#include "storage/report/code_block.h"
#include "storage/report/html_colors.h"
#include "storage/report/html_parts.h"
#include "storage/report/phrases.h"
#include "storage/report/report.h"
#include "storage/report/source_figures.h"
#include "storage/report/svg.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

std::string share_row(std::string_view css, const std::string& key, const std::string& name, int64_t bytes,
                      const std::string& share) {
    return fmt::format("<tr{}><td>{}{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n", css, key,
                       marked_up(name), format_bytes(bytes), share);
}

/// Returns the class of a share's color; shares without one have the color of unknown categories.
std::string class_of(const Share& share) {
    return share.component && !share.category ? key_class(*share.component)
                                              : key_class(share.category.value_or(Category::unknown));
}

std::string shares(const ReportInput& reported, const Words& words) {
    const Explanation& explanation = reported.explanation;
    if (explanation.shares.empty()) {
        return {};
    }
    std::string bar, rows;
    for (const Share& share : explanation.shares) {
        const std::string css = class_of(share), percent = Words::percent(share.of_total);
        if (share.bytes > 0) {
            bar += fmt::format("<i class=\"{}\" style=\"width:{:.3f}%\" title=\"{}\"></i>", css, share.of_total * 100,
                               html_escaped(fmt::format("{}: {}", share.name, percent)));
        }
        rows += share_row("", fmt::format("<i class=\"key {}\"></i>", css), share.name, share.bytes, percent);
    }
    rows += share_row(" class=\"total\"", "", total_phrase(reported, words), explanation.total, "");
    return fmt::format("<h2>{}</h2>\n<div class=\"bar\">{}</div>\n<table>\n{}</table>\n",
                       html_escaped(words("Where the memory is")), bar, rows);
}

std::string facts(const Finding& finding, const Words& words) {
    std::string rows;
    for (const LabeledFact& fact : facts_of(finding, words)) {
        rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_escaped(fact.label), marked_up(fact.value));
    }
    return rows.empty() ? "" : "<dl>\n" + rows + "</dl>\n";
}

std::string evidence_list(const ReportInput& reported, const Finding& finding, const Words& words) {
    std::string items;
    for (const Evidence& item : finding.evidence) {
        const std::string time_point = time_point_argument(item), ids = evidence_ids(reported, item, words);
        items +=
            fmt::format("<li>{}{}{}</li>\n",
                        time_point.empty() ? "" : fmt::format("<code class=\"time-point\">--at {}</code> ", time_point),
                        marked_up(item.text),
                        ids.empty() ? "" : fmt::format(" <span class=\"quiet\">[{}]</span>", html_escaped(ids)));
    }
    return items.empty() ? "" : fmt::format("<h4>{}</h4>\n<ol>\n{}</ol>\n", html_escaped(words("Evidence")), items);
}

/// Returns the steps from the variable down to the memory, each with a bar as long as its part of the largest step.
std::string path_list(const Finding& finding, const Words& words) {
    const int64_t largest = largest_bytes(finding.path);
    std::string items;
    for (const RetentionStep& step : finding.path) {
        const std::string size =
            step.bytes
                ? fmt::format("<b>{}</b><i style=\"width:{:.2f}%\"></i>", format_bytes(*step.bytes),
                              largest > 0 ? 100.0 * static_cast<double>(*step.bytes) / static_cast<double>(largest) : 0)
                : std::string();
        items += fmt::format("<li class=\"{}\"><span>{}</span><span class=\"size\">{}</span></li>\n",
                             retention_step_word(step.kind), marked_up(step_phrase(step)), size);
    }
    return items.empty() ? ""
                         : fmt::format("<h4>{}</h4>\n<ol class=\"path\">\n{}</ol>\n",
                                       html_escaped(words("Retention path")), items);
}

/// Returns the columns of a line of source before its text.
std::string figure_cells(const LineBytes* bytes) {
    const auto cell = [](uint64_t value) { return value == 0 ? "" : format_bytes(static_cast<int64_t>(value)); };
    return bytes == nullptr ? "<b></b><b></b><b></b>"
                            : fmt::format("<b>{}</b><b>{}</b><b class=\"leak\">{}</b>", cell(bytes->active),
                                          cell(bytes->peak), cell(bytes->leaked));
}

/// Returns the lines around the finding's own; if the source was not recorded, its name in place of that line.
SourceExcerpt excerpt_of(const ReportInput& reported, const Finding& finding) {
    const StackTable& stacks = reported.context.trace().stacks;
    const FrameId site = stacks.site(finding.stack);
    if (!finding.source.empty() || site == 0) {
        return finding.source;
    }
    const Frame& frame = stacks.frame(site);
    return {stacks.string(frame.file), frame.line, {{frame.line, finding.line}}};
}

/// Returns the lines with the bytes that are active at the explained point in time and at the peak, and those that
/// leaks retain.
std::string source_block(const SourceExcerpt& excerpt, const SourceFigures& figures, const Words& words) {
    const bool has_figures = figures.has_file(excerpt.file);
    std::string lines;
    size_t i = 0;
    for (const CodeLine& line : code_lines(excerpt)) {
        const std::string cells =
            has_figures ? figure_cells(figures.bytes_of(excerpt.file, excerpt.lines[i].number)) : "";
        lines += fmt::format("<span class=\"{}\"><i>{}</i>{}{}</span>\n", line.is_marked ? "marked" : "line",
                             line.number, cells, html_escaped(line.text));
        ++i;
    }
    if (has_figures && !lines.empty()) {
        lines.insert(0, fmt::format("<span class=\"head\"><i>{}</i><b>{}</b><b>{}</b><b>{}</b></span>\n",
                                    html_escaped(words("Line")), html_escaped(words("Active")),
                                    html_escaped(words("At the peak")), html_escaped(words("Leaked"))));
    }
    return lines.empty() ? "" : fmt::format("<pre class=\"source\">{}</pre>\n", lines);
}

std::string fix_list(const Finding& finding, const Words& words) {
    std::string items;
    for (const Fix& fix : finding.fixes) {
        items +=
            fmt::format("<li>{}{}</li>\n", marked_up(words.sentences({fix.text, gain_phrase(finding, fix, words)})),
                        code_of_fix(fix.code, fix.diff));
    }
    return items.empty() ? ""
                         : fmt::format("<h4>{}</h4>\n<ul>\n{}</ul>\n", html_escaped(words("Recommended fix")), items);
}

std::string finding_card(const ReportInput& reported, const Finding& finding, size_t number,
                         const SourceFigures& figures, const Words& words) {
    const std::string_view severity = severity_word(finding.severity);
    const bool is_open = finding.severity != Severity::background;
    std::string card = fmt::format(
        "<details class=\"finding {}\"{}>\n<summary>{}<span class=\"severity {}\">{}</span>{} <span "
        "class=\"size\">{}</span></summary>\n",
        severity, is_open ? " open" : "", number, severity, html_escaped(severity_title(words, finding.severity)),
        marked_up(finding.title), html_escaped(size_phrase(finding, words)));
    card += facts(finding, words) + source_block(excerpt_of(reported, finding), figures, words) +
            paragraphs(finding.text) + finding_chart(reported, finding, words);
    card += path_list(finding, words) + evidence_list(reported, finding, words) + fix_list(finding, words);
    card += fmt::format("<p class=\"quiet\">{} {}</p>\n", html_escaped(words("Confidence:")),
                        marked_up(confidence_phrase(finding, words)));
    return card + bullets(words("Unknown"), finding.unknowns) + "</details>\n";
}

/// Returns the lines of the program that retain or hold the most memory.
std::string top_lines(const SourceFigures& figures, const Words& words) {
    std::string rows;
    const auto cell = [](uint64_t bytes) {
        return fmt::format("<td class=\"number\">{}</td>", bytes == 0 ? "" : format_bytes(static_cast<int64_t>(bytes)));
    };
    for (const SourceFigures::Row& row : figures.top_lines()) {
        rows +=
            fmt::format("<tr><td><code>{}</code> {}</td>{}{}{}</tr>\n", html_escaped(row.place),
                        row.code.empty() ? "" : fmt::format("<code class=\"quiet\">{}</code>", html_escaped(row.code)),
                        cell(row.bytes.active), cell(row.bytes.peak), cell(row.bytes.leaked));
    }
    if (rows.empty()) {
        return {};
    }
    return fmt::format("<h2>{}</h2>\n<table>\n{}{}</table>\n", html_escaped(words("Memory by source line")),
                       table_head({words("Line")}, {words("Active"), words("At the peak"), words("Leaked")}), rows);
}

std::string device_section(const ReportInput& reported, const Words& words) {
    const Explanation& explanation = reported.explanation;
    std::string section = fmt::format("<section class=\"device\">\n<p class=\"quiet\">{}</p>\n",
                                      html_escaped(page_title(reported, words)));
    const SourceFigures figures(reported);
    section += summary_block(explanation.summary) + category_chart(reported, words) +
               components_chart(reported, words) + shares(reported, words) + floor_chart(reported, words);
    size_t number = 0;
    for (const Finding& finding : explanation.findings) {
        section += number > 0 ? "" : fmt::format("<h2>{}</h2>\n", html_escaped(words("Findings")));
        section += finding_card(reported, finding, ++number, figures, words);
    }
    section += top_lines(figures, words);
    return section + bullets(words("Not recorded"), explanation.unknowns) + "</section>\n";
}

std::string device_sections(std::span<const ReportInput> devices, const Words& words) {
    std::string sections;
    for (const ReportInput& reported : devices) {
        sections += device_section(reported, words);
    }
    return sections;
}

}  // namespace

std::string report_html(std::span<const ReportInput> devices, const Words& words) {
    const std::string name =
        devices.empty() ? "" : std::filesystem::path(devices.front().context.trace().path).filename().string();
    return html_page(
        words("Why memory went up: {trace}", with("trace", name)), device_sections(devices, words),
        words("{trace}, explained by Tidemark {version}. Markers, bars and columns show details under the pointer.",
              with("trace", name), with("version", TIDEMARK_VERSION)),
        words);
}

std::string report_fragment(std::span<const ReportInput> devices, const Words& words) {
    return html_fragment(device_sections(devices, words));
}

}  // namespace tidemark
