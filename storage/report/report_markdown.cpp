// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/report/code_block.h"
#include "storage/report/layout.h"
#include "storage/report/markdown.h"
#include "storage/report/phrases.h"
#include "storage/report/report.h"

namespace tidemark {
namespace {

/// Returns the lines with their numbers and an arrow at the one that is meant.
std::string source_block(const SourceExcerpt& excerpt) {
    std::string code;
    for (const CodeLine& line : code_lines(excerpt)) {
        code += fmt::format("{} {} | {}\n", line.is_marked ? ">" : " ", line.number, line.text);
    }
    return code.empty() ? "" : '\n' + fenced(code, "text");
}

std::string bullets(const std::string& title, const std::vector<std::string>& items) {
    std::string text = items.empty() ? "" : fmt::format("\n**{}**\n\n", title);
    for (const std::string& item : items) {
        text += fmt::format("- {}\n", markdown_escaped(item));
    }
    return text;
}

std::string shares_table(const ReportInput& reported, const Words& words) {
    const Explanation& explanation = reported.explanation;
    if (explanation.shares.empty()) {
        return {};
    }
    std::string text = fmt::format("\n| {} | {} | {} |\n|---|--:|--:|\n", words("Where the memory is"), words("Bytes"),
                                   words("Share"));
    for (const Share& share : explanation.shares) {
        text += fmt::format("| {} | {} | {} |\n", markdown_escaped(share.name), format_bytes(share.bytes),
                            Words::percent(share.of_total));
    }
    return text +
           fmt::format("| **{}** | **{}** | |\n", total_phrase(reported, words), format_bytes(explanation.total));
}

std::string evidence_list(const ReportInput& reported, const Finding& finding, const Words& words) {
    std::string text = finding.evidence.empty() ? "" : fmt::format("\n**{}**\n\n", words("Evidence"));
    for (const Evidence& item : finding.evidence) {
        const std::string time_point = time_point_argument(item), ids = evidence_ids(reported, item, words);
        text += fmt::format("- {}{}{}\n", time_point.empty() ? "" : fmt::format("`--at {}` ", time_point),
                            markdown_escaped(item.text),
                            ids.empty() ? "" : fmt::format(" \\[{}\\]", markdown_escaped(ids)));
    }
    return text;
}

std::string path_list(const Finding& finding, const Words& words) {
    std::string text = finding.path.empty() ? "" : fmt::format("\n**{}**\n\n", words("Retention path"));
    for (const RetentionStep& step : finding.path) {
        text += fmt::format("1. {}{}\n", markdown_escaped(step_phrase(step)),
                            step.bytes ? fmt::format(": {}", format_bytes(*step.bytes)) : "");
    }
    return text;
}

std::string fix_list(const Finding& finding, const Words& words) {
    std::string text = finding.fixes.empty() ? "" : fmt::format("\n**{}**\n\n", words("Recommended fix"));
    for (const Fix& fix : finding.fixes) {
        text += fmt::format("- {}\n", markdown_escaped(words.sentences({fix.text, gain_phrase(finding, fix, words)})));
        text += code_of_fix_in_markdown(fix.code, fix.diff);
    }
    return text;
}

std::string finding_section(const ReportInput& reported, const Finding& finding, size_t number, const Words& words) {
    std::string text = fmt::format("\n### {}. {}: {}\n\n", number, severity_title(words, finding.severity),
                                   markdown_escaped(finding.title));
    for (const LabeledFact& fact : facts_of(finding, words)) {
        text += fmt::format("- **{}**: {}\n", fact.label, markdown_escaped(fact.value));
    }
    text += source_block(finding.source);
    for (const std::string& sentences : finding.text) {
        text += '\n' + markdown_escaped(sentences) + '\n';
    }
    text += path_list(finding, words) + evidence_list(reported, finding, words) + fix_list(finding, words);
    text += fmt::format("\n*{}* {}\n", words("Confidence:"), markdown_escaped(confidence_phrase(finding, words)));
    return text + bullets(words("Unknown"), finding.unknowns);
}

std::string device_section(const ReportInput& reported, const Words& words) {
    const Explanation& explanation = reported.explanation;
    std::string text = fmt::format("## {}\n\n{}\n", markdown_escaped(page_title(reported, words)),
                                   markdown_escaped(words.sentences(explanation.summary)));
    text += shares_table(reported, words);
    std::vector<std::string> background;
    size_t number = 0;
    for (const Finding& finding : explanation.findings) {
        if (finding.severity == Severity::background) {
            background.push_back(folded_phrase(finding, words));
        } else {
            text += finding_section(reported, finding, ++number, words);
        }
    }
    return text + bullets(words("What every program has"), background) +
           bullets(words("Not recorded"), explanation.unknowns);
}

}  // namespace

std::string report_markdown(std::span<const ReportInput> devices, const Words& words) {
    std::string text;
    for (const ReportInput& reported : devices) {
        text += (text.empty() ? "" : "\n") + device_section(reported, words);
    }
    return text;
}

}  // namespace tidemark
