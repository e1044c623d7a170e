// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/job/job_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "storage/base/parse_number.h"
#include "storage/job/explain_job.h"
#include "storage/report/job_report.h"
#include "storage/report/layout.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

/// The memory of a line at the peaks of all ranks.
struct SiteOfJob {
    std::string line;
    size_t ranks = 0;  ///< that have it
    int64_t least = INT64_MAX, most = 0, sum = 0;
    std::string most_on;  ///< the rank with most
};

std::vector<SiteOfJob> sites_of(const Job& job, const Words& words) {
    std::map<std::string, SiteOfJob> by_line;
    for (const JobMember* member : job.ranks()) {
        const DeviceSummary* device = member->device();
        for (size_t i = 0; device != nullptr && i < device->sites.size(); ++i) {
            const SiteMemory& site = device->sites[i];
            SiteOfJob& of_job = by_line[site.line];
            of_job.line = site.line;
            ++of_job.ranks;
            of_job.sum += site.at_peak;
            of_job.least = std::min(of_job.least, site.at_peak);
            if (site.at_peak > of_job.most) {
                of_job.most = site.at_peak;
                of_job.most_on = member_name(*member, words);
            }
        }
    }
    std::vector<SiteOfJob> sites;
    for (auto& [line, site] : by_line) {
        site.least = site.ranks < job.ranks().size() ? 0 : site.least;
        sites.push_back(std::move(site));
    }
    std::stable_sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.sum > b.sum; });
    return sites;
}

/// A row of the table of processes.
std::string process_row(const JobMember& member, size_t name_width, const Words& words) {
    const std::string name = pad_right(visible_text(member_name(member, words)), name_width);
    if (!member.summary) {
        return fmt::format("{}  {}\n", name, visible_text(words.translate(member.failure->sentence)));
    }
    const DeviceSummary* device = member.device();
    return fmt::format(
        "{}  {:>10}  {:>10}  {:>8}  {}  {}\n", name, device == nullptr ? "" : format_bytes(device->peak_allocated),
        device == nullptr ? "" : format_bytes(device->allocated_at_end), format_count(member.summary->steps),
        visible_text(member.summary->place.node), visible_text(std::filesystem::path(member.path).filename().string()));
}

/// Returns the width of the column with the names of processes.
size_t name_width(const Job& job, const Words& words) {
    size_t width = display_width(words("process"));
    for (const JobMember& member : job.members) {
        width = std::max(width, display_width(visible_text(member_name(member, words))));
    }
    return width;
}

/// Returns the counters of a process that its summary has.
ordered_json stats_json(const JobMember& member, const Words& words) {
    ordered_json json{{"trace", std::filesystem::path(member.path).filename().string()},
                      {"name", member_name(member, words)},
                      {"rank", or_null(member.rank())}};
    if (const DeviceSummary* device = member.device()) {
        json.update({{"device", device->device},
                     {"allocated_bytes.all.current", device->allocated_at_end},
                     {"allocated_bytes.all.peak", device->peak_allocated},
                     {"reserved_bytes.all.current", device->reserved_at_end},
                     {"reserved_bytes.all.peak", device->peak_reserved}});
    }
    return json;
}

}  // namespace

Result<std::string> trace_of_rank(const std::string& text) {
    const size_t colon = text.rfind(':');
    const std::string folder = text.substr(0, colon), number = colon == text.npos ? "" : text.substr(colon + 1);
    const auto rank = parse_count(number);
    std::error_code error;
    if (!rank || std::filesystem::exists(text, error) || !is_job(folder)) {
        return text;
    }
    Progress progress;
    return find_trace_of_rank(folder, *rank, progress);
}

Status print_job(const std::string& folder, const std::string& format, const Words& words, Progress& progress) {
    const auto job = open_job(folder, progress);
    if (!job) {
        return job.error();
    }
    const JobExplanation explanation = explain_job(*job, words);
    if (format == "json") {
        return print_json(job_json({*job, explanation}, words));
    }
    const size_t width = name_width(*job, words);
    std::string text = words.sentences(explanation.summary) + "\n\n";
    text += fmt::format("{}  {:>10}  {:>10}  {:>8}  {}\n", pad_right(words("process"), width), words("peak"),
                        words("at the end"), words("steps"), words("node, trace"));
    for (const JobMember& member : job->members) {
        text += process_row(member, width, words);
    }
    for (const std::string& unknown : explanation.unknowns) {
        text += fmt::format("- {}\n", visible_text(unknown));
    }
    return print(text);
}

Status print_job_stats(const std::string& folder, const std::string& format, const Words& words, Progress& progress) {
    const auto job = open_job(folder, progress);
    if (!job) {
        return job.error();
    }
    if (format == "json") {
        auto list = ordered_json::array();
        for (const JobMember& member : job->members) {
            list.push_back(stats_json(member, words));
        }
        return print_json(list);
    }
    const size_t width = name_width(*job, words);
    std::string text =
        fmt::format("{}  {:>22}  {:>22}\n", std::string(width, ' '), words("allocated"), words("reserved"));
    text += fmt::format("{0}  {1:>10}  {2:>10}  {1:>10}  {2:>10}\n", pad_right(words("process"), width), words("peak"),
                        words("at the end"));
    for (const JobMember& member : job->members) {
        const DeviceSummary* device = member.device();
        text += pad_right(visible_text(member_name(member, words)), width);
        text += device == nullptr
                    ? ""
                    : fmt::format("  {:>10}  {:>10}  {:>10}  {:>10}", format_bytes(device->peak_allocated),
                                  format_bytes(device->allocated_at_end), format_bytes(device->peak_reserved),
                                  format_bytes(device->reserved_at_end));
        text += member.failure ? "  " + visible_text(words.translate(member.failure->sentence)) + '\n' : "\n";
    }
    return print(text);
}

Status print_job_sites(const std::string& folder, size_t limit, const std::string& format, const Words& words,
                       Progress& progress) {
    const auto job = open_job(folder, progress);
    if (!job) {
        return job.error();
    }
    if (job->ranks().empty()) {
        return usage_error("{folder} has no trace of a rank; name one of its traces: tidemark top {trace}",
                           with("folder", folder), with("trace", job->members.front().path));
    }
    const std::vector<SiteOfJob> sites = sites_of(*job, words);
    const size_t count = limited(sites.size(), limit);
    if (format == "json") {
        auto list = ordered_json::array();
        for (size_t i = 0; i < count; ++i) {
            const SiteOfJob& site = sites[i];
            list.push_back({{"line", site.line},
                            {"ranks", site.ranks},
                            {"bytes", site.sum},
                            {"least", site.least},
                            {"most", site.most},
                            {"most_on", site.most_on}});
        }
        return print_json({{"folder", folder}, {"ranks", job->ranks().size()}, {"groups", std::move(list)}});
    }
    const auto ranks = static_cast<int64_t>(job->ranks().size());
    std::string text =
        words.plural(ranks, "Allocation sites at the peak of {n} rank: of all ranks, the least and the most of one.",
                     "Allocation sites at the peaks of {n} ranks: of all ranks, the least and the most of one.") +
        "\n\n";
    for (size_t i = 0; i < count; ++i) {
        const SiteOfJob& site = sites[i];
        text += fmt::format(
            "{:>10}  {:>10}  {:>10}  {}  {}\n", format_bytes(site.sum), format_bytes(site.least),
            format_bytes(site.most), visible_text(site.line),
            site.most - site.least > site.most / 10 ? words("most on {rank}", with("rank", site.most_on)) : "");
    }
    return print(text + rest_text(words, sites.size() - count, 2));
}

}  // namespace tidemark::cli
