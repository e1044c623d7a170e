// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/report/code_block.h"
#include "storage/report/layout.h"
#include "storage/report/phrases.h"
#include "storage/report/report.h"

namespace tidemark {
namespace {

constexpr std::string_view no_color, bold = "\033[1m", dim = "\033[2m", red = "\033[1;31m", yellow = "\033[1;33m",
                                     green = "\033[32m", blue = "\033[36m";

std::string_view color_of(Severity severity) {
    switch (severity) {
        case Severity::leak:
        case Severity::failure: return red;
        case Severity::waste: return yellow;
        case Severity::pattern: return green;
        case Severity::background: return dim;
    }
    return no_color;
}

/// Returns a bar with a resolution of one eighth of a column.
std::string bar(double share, int width) {
    constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
    std::string text;
    for (int i = 0; i < filled / 8; ++i) {
        text += "█";
    }
    return text += eighths[filled % 8];
}

/// The page of one device, written from top to bottom.
class Page {
public:
    Page(const ReportInput& reported, const Words& words, const TextOptions& options)
        : reported_(reported), words_(words), options_(options) {}

    std::string write() {
        const Explanation& explanation = reported_.explanation;
        paragraph(0, page_title(reported_, words_), dim);
        text_ += '\n';
        paragraph(0, words_.sentences(explanation.summary), bold);
        shares();
        findings();
        list(words_("Not recorded"), explanation.unknowns);
        return std::move(text_);
    }

private:
    void shares();
    void share_row(const std::string& bytes, double of_total, const std::string& name);
    void findings();
    void finding(size_t number, const Finding& finding);
    void folded(std::span<const Finding* const> findings);
    void facts(const Finding& finding);
    void source(const SourceExcerpt& excerpt);
    void path(const Finding& finding);
    void evidence(const Finding& finding);
    void fixes(const Finding& finding);
    void code(const Fix& fix);
    void list(const std::string& title, const std::vector<std::string>& items);

    std::string colored(std::string_view color, std::string_view text) const {
        return options_.colors && !color.empty() ? fmt::format("{}{}\033[0m", color, text) : std::string(text);
    }
    void heading(const std::string& title) { text_ += '\n' + colored(bold, title) + '\n'; }
    void paragraph(size_t indent, std::string_view text, std::string_view color = no_color) {
        labeled(indent, "", no_color, text, color);
    }
    /// Writes a label and its text. Further lines are aligned with the first.
    void labeled(size_t indent, std::string_view label, std::string_view label_color, std::string_view text,
                 std::string_view color = no_color);

    const ReportInput& reported_;
    const Words& words_;
    const TextOptions& options_;
    std::string text_;
};

void Page::labeled(size_t indent, std::string_view label, std::string_view label_color, std::string_view text,
                   std::string_view color) {
    constexpr size_t narrowest = 20;
    const size_t begin = indent + display_width(label);
    const auto width = static_cast<size_t>(options_.width);
    bool is_first = true;
    for (const std::string& line : wrap(visible_text(text), std::max(narrowest, width - std::min(width, begin)))) {
        text_ += is_first ? std::string(indent, ' ') + colored(label_color, label) : std::string(begin, ' ');
        text_ += colored(color, line) + '\n';
        is_first = false;
    }
}

void Page::share_row(const std::string& bytes, double of_total, const std::string& name) {
    constexpr int bar_width = 20;
    text_ += fmt::format("{:>12}  {:>7}  {}  {}\n", bytes, Words::percent(of_total),
                         colored(blue, pad_right(bar(of_total, bar_width), bar_width)), visible_text(name));
}

void Page::shares() {
    const Explanation& explanation = reported_.explanation;
    if (explanation.shares.empty()) {
        return;
    }
    heading(words_("Where the memory is"));
    for (const Share& share : explanation.shares) {
        share_row(format_bytes(share.bytes), share.of_total, share.name);
    }
    text_ += fmt::format("{:>12}  {:>7}  {:20}  {}\n", format_bytes(explanation.total), "", "",
                         total_phrase(reported_, words_));
}

void Page::findings() {
    size_t number = 0;
    std::vector<const Finding*> background;
    for (const Finding& each : reported_.explanation.findings) {
        if (each.severity == Severity::background && !options_.all) {
            background.push_back(&each);
            continue;
        }
        if (number == 0) {
            heading(words_("Findings"));
        }
        finding(++number, each);
    }
    folded(background);
}

void Page::folded(std::span<const Finding* const> findings) {
    if (findings.empty()) {
        return;
    }
    heading(words_("What every program has") + " (--all)");
    for (const Finding* each : findings) {
        labeled(2, "- ", no_color, folded_phrase(*each, words_));
    }
}

void Page::finding(size_t number, const Finding& finding) {
    text_ += number == 1 ? "" : "\n";
    labeled(0, fmt::format("{:>2}. ", number), bold,
            fmt::format("{}: {}", severity_title(words_, finding.severity), finding.title), color_of(finding.severity));
    facts(finding);
    source(finding.source);
    for (const std::string& sentences : finding.text) {
        paragraph(4, sentences);
    }
    path(finding);
    evidence(finding);
    fixes(finding);
    labeled(4, words_("Confidence:") + " ", bold, confidence_phrase(finding, words_));
    for (const std::string& unknown : finding.unknowns) {
        labeled(4, words_("Unknown") + ": ", bold, unknown);
    }
}

void Page::facts(const Finding& finding) {
    const std::vector<LabeledFact> facts = facts_of(finding, words_);
    size_t width = 0;
    for (const LabeledFact& fact : facts) {
        width = std::max(width, display_width(fact.label) + 2);
    }
    for (const LabeledFact& fact : facts) {
        labeled(6, pad_right(fact.label, width), dim, fact.value);
    }
}

void Page::source(const SourceExcerpt& excerpt) {
    constexpr size_t narrowest = 20;
    for (const CodeLine& line : code_lines(excerpt)) {
        const std::string label = fmt::format("{:>7} {} | ", line.is_marked ? ">" : "", line.number);
        const auto width = static_cast<size_t>(options_.width);
        const size_t room = std::max(narrowest, width - std::min(width, label.size()));
        text_ += colored(line.is_marked ? bold : dim, label + fit_columns(line.text, room)) + '\n';
    }
}

/// Writes a step a line, each below what retains it, with the bytes that become free with it.
void Page::path(const Finding& finding) {
    if (finding.path.empty()) {
        return;
    }
    paragraph(4, words_("Retention path"), bold);
    size_t depth = 0;
    for (const RetentionStep& step : finding.path) {
        const std::string arrow = depth == 0 ? "" : std::string(2 * (depth - 1), ' ') + "└ ";
        labeled(4, fmt::format("{:>10}  {}", step.bytes ? format_bytes(*step.bytes) : "", arrow), dim,
                step_phrase(step));
        ++depth;
    }
}

void Page::evidence(const Finding& finding) {
    if (finding.evidence.empty()) {
        return;
    }
    paragraph(4, words_("Evidence"), bold);
    size_t width = 0;
    for (const Evidence& item : finding.evidence) {
        width = std::max(width, time_point_argument(item).size() + 2);
    }
    for (const Evidence& item : finding.evidence) {
        const std::string ids = evidence_ids(reported_, item, words_);
        labeled(6, pad_right(time_point_argument(item), width), blue,
                ids.empty() ? item.text : fmt::format("{} [{}]", item.text, ids));
    }
}

std::string heading_of_fixes(const Finding& finding, const Words& words) {
    if (finding.fixes.size() == 1) {
        return words("Recommended fix");
    }
    return finding.severity == Severity::failure ? words("Recommended fixes, best first")
                                                 : words("Recommended fixes, each sufficient by itself");
}

void Page::fixes(const Finding& finding) {
    if (finding.fixes.empty()) {
        return;
    }
    paragraph(4, heading_of_fixes(finding, words_), bold);
    for (const Fix& fix : finding.fixes) {
        labeled(6, "- ", no_color, words_.sentences({fix.text, gain_phrase(finding, fix, words_)}));
        code(fix);
    }
}

void Page::code(const Fix& fix) {
    const std::string indent(12, ' ');
    for (const DiffLine& line : diff_lines(fix.diff)) {
        const std::string_view color = line.part == DiffPart::added     ? green
                                       : line.part == DiffPart::removed ? red
                                                                        : dim;
        text_ += indent + colored(color, line.text) + '\n';
    }
    for (const std::string& line : split_lines(fix.diff.empty() ? visible_lines(fix.code) : "")) {
        text_ += indent + colored(green, line) + '\n';
    }
}

void Page::list(const std::string& title, const std::vector<std::string>& items) {
    if (items.empty()) {
        return;
    }
    heading(title);
    for (const std::string& item : items) {
        labeled(2, "- ", no_color, item);
    }
}

}  // namespace

std::string report_text(const ReportInput& reported, const Words& words, const TextOptions& options) {
    return Page(reported, words, options).write();
}

}  // namespace tidemark
