// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>

#include "storage/base/shell_word.h"
#include "storage/base/units.h"
#include "storage/report/html_parts.h"
#include "storage/report/job_heat_map.h"
#include "storage/report/job_report.h"
#include "storage/report/phrases.h"
#include "storage/report/svg.h"

namespace tidemark {
namespace {

std::string number_cell(const std::string& number) { return fmt::format("<td class=\"number\">{}</td>", number); }

/// A row of the table of processes; of a trace that cannot be read, its name and the reason.
std::string process_row(const JobMember& member, const Words& words) {
    const std::string name = html_escaped(member_name(member, words));
    if (!member.summary) {
        return fmt::format("<tr><td>{}</td><td colspan=\"6\">{}</td></tr>\n", name,
                           marked_up(words.translate(member.failure->sentence)));
    }
    const DeviceSummary* device = member.device();
    const auto bytes = [&](int64_t DeviceSummary::*value) {
        return number_cell(device == nullptr ? "" : format_bytes(device->*value));
    };
    const int64_t growth = device == nullptr ? 0 : device->growth();
    return fmt::format("<tr><td>{}</td><td>{}</td>{}{}{}{}{}</tr>\n", name, html_escaped(member.summary->place.node),
                       bytes(&DeviceSummary::peak_allocated), bytes(&DeviceSummary::allocated_at_end),
                       bytes(&DeviceSummary::peak_reserved), number_cell(growth > 0 ? "+" + format_bytes(growth) : ""),
                       number_cell(format_count(member.summary->steps)));
}

std::string process_table(const Job& job, const Words& words) {
    std::string rows;
    for (const JobMember& member : job.members) {
        rows += process_row(member, words);
    }
    return fmt::format(
        "<h2>{}</h2>\n<table>\n{}{}</table>\n", html_escaped(words("Processes")),
        table_head({words("process"), words("node")}, {words("peak"), words("at the end"), words("peak reserved"),
                                                       words("growth per iteration"), words("steps")}),
        rows);
}

/// A row per GPU: what nvidia-smi shows, and the processes that use it.
std::string gpu_table(const JobReportInput& reported, const Words& words) {
    std::string rows;
    for (const GpuTotal& gpu : reported.explanation.gpus) {
        rows += fmt::format("<tr><td>{}</td><td>{}</td>{}{}</tr>\n", html_escaped(gpu_phrase(gpu, words)),
                            marked_up(words.list(gpu_parts(reported, gpu, words))),
                            number_cell(format_bytes(gpu_used(gpu))),
                            number_cell(gpu.total_bytes == 0 ? "" : Words::percent(gpu_share(gpu))));
    }
    return rows.empty()
               ? ""
               : fmt::format("<h2>{}</h2>\n<table>\n{}</table>\n",
                             html_escaped(words("Where the memory is, as nvidia-smi shows it, of each GPU")), rows);
}

std::string facts(const JobFinding& finding, const Words& words) {
    std::string rows;
    const auto add = [&](const std::string& label, const std::string& value) {
        rows += value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_escaped(label), marked_up(value));
    };
    add(words("Bytes"), finding.bytes > 0 ? format_bytes(finding.bytes) : "");
    add(words("Grows"), finding.per_iteration
                            ? words("{bytes} per iteration", with("bytes", format_bytes(*finding.per_iteration)))
                            : "");
    add(words("Line"), finding.line);
    return rows.empty() ? "" : "<dl>\n" + rows + "</dl>\n";
}

std::string finding_card(const JobReportInput& reported, const JobFinding& finding, size_t number, const Words& words) {
    const std::string_view severity = severity_word(finding.severity);
    std::string card = fmt::format(
        "<details class=\"finding {}\" open>\n<summary>{}<span class=\"severity {}\">{}</span>{}</summary>\n", severity,
        number, severity, html_escaped(severity_title(words, finding.severity)), marked_up(finding.title));
    card += facts(finding, words) + paragraphs(finding.text);
    if (!finding.fix.text.empty()) {
        card += bullets(words("Recommended fix"), {finding.fix.text});
        card += code_of_fix(finding.fix.code, finding.fix.diff) + '\n';
    }
    const std::string command = "tidemark explain " + shell_word(reported.job.members[finding.members.front()].path);
    return card + fmt::format("<p class=\"quiet\">{} <code>{}</code></p>\n</details>\n", html_escaped(words("More:")),
                              html_escaped(command));
}

}  // namespace

std::string job_html(const JobReportInput& reported, const Words& words) {
    // Also of "run.tidejob/".
    const std::string name = (std::filesystem::path(reported.job.folder) / "").parent_path().filename().string();
    std::string body = fmt::format("<p class=\"quiet\">{}</p>\n", html_escaped(reported.job.folder));
    body += summary_block(reported.explanation.summary) + job_heat_map(reported, words) +
            process_table(reported.job, words) + gpu_table(reported, words);
    size_t number = 0;
    for (const JobFinding& finding : reported.explanation.findings) {
        body += number > 0 ? "" : fmt::format("<h2>{}</h2>\n", html_escaped(words("Findings")));
        body += finding_card(reported, finding, ++number, words);
    }
    body += bullets(words("Not recorded"), reported.explanation.unknowns);
    return html_page(words("Memory of the job {name}", with("name", name)), body,
                     words("{trace}, explained by Tidemark {version}. Rows of the heat map show their bytes under the "
                           "pointer.",
                           with("trace", name), with("version", TIDEMARK_VERSION)),
                     words);
}

}  // namespace tidemark
