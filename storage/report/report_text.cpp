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
#include "storage/report/text_page.h"

namespace tidemark {
namespace {

/// The page of one device.
class Page {
public:
    Page(const ReportInput& reported, const Words& words, const TextOptions& options)
        : reported_(reported), words_(words), page_(options) {}

    std::string write() {
        const Explanation& explanation = reported_.explanation;
        page_.paragraph(0, page_title(reported_, words_), dim);
        page_.empty_line();
        page_.paragraph(0, words_.sentences(explanation.summary), bold);
        shares();
        findings();
        page_.list(words_("Not recorded"), explanation.unknowns);
        return page_.take();
    }

private:
    void shares();
    void findings();
    void finding(size_t number, const Finding& finding);
    void folded(std::span<const Finding* const> findings);
    void facts(const Finding& finding);
    void source(const SourceExcerpt& excerpt);
    void path(const Finding& finding);
    void evidence(const Finding& finding);
    void fixes(const Finding& finding);

    const ReportInput& reported_;
    const Words& words_;
    TextPage page_;
};

void Page::shares() {
    const Explanation& explanation = reported_.explanation;
    if (explanation.shares.empty()) {
        return;
    }
    page_.heading(words_("Where the memory is"));
    for (const Share& share : explanation.shares) {
        page_.share_row(format_bytes(share.bytes), share.of_total, share.name);
    }
    page_.total_row(format_bytes(explanation.total), total_phrase(reported_, words_));
}

void Page::findings() {
    size_t number = 0;
    std::vector<const Finding*> background;
    for (const Finding& each : reported_.explanation.findings) {
        if (each.severity == Severity::background && !page_.options().all) {
            background.push_back(&each);
            continue;
        }
        if (number == 0) {
            page_.heading(words_("Findings"));
        }
        finding(++number, each);
    }
    folded(background);
}

void Page::folded(std::span<const Finding* const> findings) {
    if (findings.empty()) {
        return;
    }
    page_.heading(words_("What every program has") + " (--all)");
    for (const Finding* each : findings) {
        page_.labeled(2, "- ", no_color, folded_phrase(*each, words_));
    }
}

void Page::finding(size_t number, const Finding& finding) {
    if (number > 1) {
        page_.empty_line();
    }
    page_.labeled(0, fmt::format("{:>2}. ", number), bold,
                  fmt::format("{}: {}", severity_title(words_, finding.severity), finding.title),
                  color_of(finding.severity));
    facts(finding);
    source(finding.source);
    for (const std::string& sentences : finding.text) {
        page_.paragraph(4, sentences);
    }
    path(finding);
    evidence(finding);
    fixes(finding);
    page_.labeled(4, words_("Confidence:") + " ", bold, confidence_phrase(finding, words_));
    for (const std::string& unknown : finding.unknowns) {
        page_.labeled(4, words_("Unknown") + ": ", bold, unknown);
    }
}

void Page::facts(const Finding& finding) {
    const std::vector<LabeledFact> facts = facts_of(finding, words_);
    size_t width = 0;
    for (const LabeledFact& fact : facts) {
        width = std::max(width, display_width(fact.label) + 2);
    }
    for (const LabeledFact& fact : facts) {
        page_.labeled(6, pad_right(fact.label, width), dim, fact.value);
    }
}

void Page::source(const SourceExcerpt& excerpt) {
    constexpr size_t narrowest = 20;
    for (const CodeLine& line : code_lines(excerpt)) {
        const std::string label = fmt::format("{:>7} {} | ", line.is_marked ? ">" : "", line.number);
        const auto width = static_cast<size_t>(page_.options().width);
        const size_t room = std::max(narrowest, width - std::min(width, label.size()));
        page_.raw(page_.colored(line.is_marked ? bold : dim, label + fit_columns(line.text, room)) + '\n');
    }
}

/// Writes a step a line, each below what retains it, with the bytes that become free with it.
void Page::path(const Finding& finding) {
    if (finding.path.empty()) {
        return;
    }
    page_.paragraph(4, words_("Retention path"), bold);
    size_t depth = 0;
    for (const RetentionStep& step : finding.path) {
        const std::string arrow = depth == 0 ? "" : std::string(2 * (depth - 1), ' ') + "└ ";
        page_.labeled(4, fmt::format("{:>10}  {}", step.bytes ? format_bytes(*step.bytes) : "", arrow), dim,
                      step_phrase(step));
        ++depth;
    }
}

void Page::evidence(const Finding& finding) {
    if (finding.evidence.empty()) {
        return;
    }
    page_.paragraph(4, words_("Evidence"), bold);
    size_t width = 0;
    for (const Evidence& item : finding.evidence) {
        width = std::max(width, time_point_argument(item).size() + 2);
    }
    for (const Evidence& item : finding.evidence) {
        const std::string ids = evidence_ids(reported_, item, words_);
        page_.labeled(6, pad_right(time_point_argument(item), width), blue,
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
    page_.paragraph(4, heading_of_fixes(finding, words_), bold);
    for (const Fix& fix : finding.fixes) {
        page_.labeled(6, "- ", no_color, words_.sentences({fix.text, gain_phrase(finding, fix, words_)}));
        page_.code_of_fix(fix.code, fix.diff);
    }
}

}  // namespace

std::string report_text(const ReportInput& reported, const Words& words, const TextOptions& options) {
    return Page(reported, words, options).write();
}

}  // namespace tidemark
