// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The explanation of a job for programs and for tickets.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "storage/base/units.h"
#include "storage/report/job_report.h"
#include "storage/report/json_parts.h"
#include "storage/report/markdown.h"
#include "storage/report/phrases.h"

namespace tidemark {
namespace {

using nlohmann::ordered_json;

std::string file_of(const JobMember& member) { return std::filesystem::path(member.path).filename().string(); }

ordered_json member_json(const Job& job, const JobMember& member, const Words& words) {
    ordered_json json{{"trace", file_of(member)}, {"name", member_name(member, words)}};
    if (!member.summary) {
        json["error"] = words.translate(member.failure->sentence);
        return json;
    }
    const ProcessSummary& summary = *member.summary;
    json.update({{"rank", or_null(member.rank())},
                 {"local_rank", or_null(summary.place.local_rank)},
                 {"world_size", or_null(summary.place.world_size)},
                 {"node", summary.place.node},
                 {"role", summary.place.role},
                 {"pid", summary.pid},
                 {"start_utc_ns", job.job_time(member, 0)},
                 {"duration_ns", summary.duration},
                 {"steps", summary.steps},
                 {"being_written", summary.is_being_written},
                 {"clean_end", summary.has_clean_end}});
    if (const DeviceSummary* device = member.device()) {
        json.update({{"device", device->device},
                     {"uuid", device->uuid},
                     {"peak_allocated", device->peak_allocated},
                     {"peak_reserved", device->peak_reserved},
                     {"peak_utc_ns", job.job_time(member, device->peak_time)},
                     {"peak_phase", device->peak_phase},
                     {"allocated", device->allocated_at_end},
                     {"reserved", device->reserved_at_end}});
    }
    return json;
}

ordered_json finding_json(const JobReportInput& reported, const JobFinding& finding) {
    auto ranks = ordered_json::array();
    auto traces = ordered_json::array();
    for (const size_t member : finding.members) {
        ranks.push_back(or_null(reported.job.members[member].rank()));
        traces.push_back(file_of(reported.job.members[member]));
    }
    return {{"kind", job_finding_word(finding.kind)},
            {"severity", severity_word(finding.severity)},
            {"ranks", std::move(ranks)},
            {"traces", std::move(traces)},
            {"title", finding.title},
            {"text", finding.text},
            {"line", finding.line},
            {"referrer", finding.referrer},
            {"bytes", finding.bytes},
            {"per_iteration", or_null(finding.per_iteration)},
            {"finding", finding.of_trace ? ordered_json(finding_word(*finding.of_trace)) : ordered_json()},
            {"fix", finding.fix.text},
            {"code", finding.fix.code},
            {"diff", finding.fix.diff}};
}

ordered_json gpu_json(const JobReportInput& reported, const GpuTotal& gpu, const Words& words) {
    auto parts = ordered_json::array();
    for (const GpuTotal::Part& part : gpu.parts) {
        parts.push_back({{"name", member_name(reported.job.members[part.member], words)}, {"bytes", part.bytes}});
    }
    return {{"node", gpu.node},
            {"device", gpu.device},
            {"uuid", gpu.uuid},
            {"name", gpu.name},
            {"total_bytes", gpu.total_bytes},
            {"used", or_null(gpu.used)},
            {"processes", std::move(parts)},
            {"rest", gpu.rest}};
}

}  // namespace

ordered_json job_json(const JobReportInput& reported, const Words& words) {
    ordered_json json{{"folder", reported.job.folder},
                      {"summary", reported.explanation.summary},
                      {"processes", ordered_json::array()},
                      {"missing_ranks", reported.job.missing_ranks},
                      {"gpus", ordered_json::array()},
                      {"findings", ordered_json::array()},
                      {"unknowns", reported.explanation.unknowns}};
    for (const JobMember& member : reported.job.members) {
        json["processes"].push_back(member_json(reported.job, member, words));
    }
    for (const GpuTotal& gpu : reported.explanation.gpus) {
        json["gpus"].push_back(gpu_json(reported, gpu, words));
    }
    for (const JobFinding& finding : reported.explanation.findings) {
        json["findings"].push_back(finding_json(reported, finding));
    }
    return json;
}

std::string job_markdown(const JobReportInput& reported, const Words& words) {
    std::string text = fmt::format("## {}\n\n", words("Memory of the job"));
    text += markdown_escaped(words.sentences(reported.explanation.summary)) + "\n\n";
    text += fmt::format("| {} | {} | {} | {} |\n|---|---|---|---|\n", words("process"), words("peak"),
                        words("at the end"), words("steps"));
    for (const JobMember& member : reported.job.members) {
        const DeviceSummary* device = member.device();
        text += fmt::format("| {} | {} | {} | {} |\n", markdown_escaped(member_name(member, words)),
                            device == nullptr ? "" : format_bytes(device->peak_allocated),
                            device == nullptr ? "" : format_bytes(device->allocated_at_end),
                            member.summary ? format_count(member.summary->steps) : "");
    }
    size_t number = 0;
    for (const JobFinding& finding : reported.explanation.findings) {
        text += fmt::format("\n### {}. {}: {}\n\n", ++number, severity_title(words, finding.severity),
                            markdown_escaped(finding.title));
        text += finding.line.empty() ? "" : fmt::format("{}: `{}`\n\n", words("Line"), finding.line);
        for (const std::string& sentences : finding.text) {
            text += markdown_escaped(sentences) + "\n\n";
        }
        text += finding.fix.text.empty()
                    ? ""
                    : fmt::format("**{}:** {}\n", words("Recommended fix"), markdown_escaped(finding.fix.text));
        text += code_of_fix_in_markdown(finding.fix.code, finding.fix.diff);
    }
    for (const std::string& unknown : reported.explanation.unknowns) {
        text += fmt::format("\n- {}", markdown_escaped(unknown));
    }
    return text + (reported.explanation.unknowns.empty() ? "" : "\n");
}

}  // namespace tidemark
