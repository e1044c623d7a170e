// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/job/job_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "storage/job/compare_jobs.h"
#include "storage/report/layout.h"
#include "storage/text/fact_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

/// The two runs and what differs.
struct JobDifference {
    std::string a, b;  ///< folders
    JobComparison found;
};

std::string bytes_or_nothing(std::optional<int64_t> bytes) { return bytes ? format_bytes(*bytes) : "-"; }

std::string most_changed_words(const JobDifference& difference, const Words& words) {
    const JobComparison& found = difference.found;
    std::string text = words("A: {folder}", with("folder", visible_text(difference.a))) + '\n' +
                       words("B: {folder}", with("folder", visible_text(difference.b))) + '\n';
    if (!found.most_changed) {
        return text + words("Every rank of both runs has the same memory at its peak and at its end.") + '\n';
    }
    const RankChange& most = found.ranks[*found.most_changed];
    const bool at_peak = most.peak.difference() != 0;
    const int64_t bytes = at_peak ? most.peak.difference() : most.end.difference();
    const auto rank = with("rank", most.rank);
    const auto amount = with("bytes", format_bytes(std::abs(bytes)));
    text += bytes > 0 ? at_peak ? words("Rank {rank} changed most: {bytes} more at its peak in B.", rank, amount)
                                : words("Rank {rank} changed most: {bytes} more at its end in B.", rank, amount)
            : at_peak ? words("Rank {rank} changed most: {bytes} less at its peak in B.", rank, amount)
                      : words("Rank {rank} changed most: {bytes} less at its end in B.", rank, amount);
    return text + '\n';
}

/// Returns the columns of a value: A, B, and how much more B has.
std::string columns(const BothRuns& values) {
    return fmt::format("{:>10}  {:>10}  {:>11}", bytes_or_nothing(values.a), bytes_or_nothing(values.b),
                       values.a && values.b ? signed_bytes(values.difference()) : "");
}

std::string column_heads(const std::string& name) {
    return fmt::format("{:>10}  {:>10}  {:>11}", name + " A", "B", "B - A");
}

std::string ranks_table(const JobComparison& found, const Words& words) {
    const std::string rank = words("rank");
    std::string text = fmt::format("\n{}  {}  {}  {}\n", pad_right(rank, 6), column_heads(words("peak")),
                                   column_heads(words("end")), column_heads(words("growth")));
    for (const RankChange& change : found.ranks) {
        text += fmt::format("{}  {}  {}  {}\n", pad_right(format_count(change.rank), 6), columns(change.peak),
                            columns(change.end), columns(change.growth));
    }
    return text;
}

std::string sites_table(const JobComparison& found, size_t limit, const Words& words) {
    if (!found.most_changed) {
        return {};
    }
    const std::span all(found.sites);
    const size_t shown = limited(all.size(), limit);
    std::string text =
        '\n' + words("Lines of rank {rank} at the peaks", with("rank", found.ranks[*found.most_changed].rank)) + '\n';
    for (const SiteChange& site : all.first(shown)) {
        text += fmt::format("{:>11}  {:>10}  {:>10}  {}  ({})\n", signed_bytes(site.difference()), format_bytes(site.a),
                            format_bytes(site.b), visible_text(site.line), category_name(words, site.category));
    }
    return text + rest_text(words, all.size() - shown, 13);
}

ordered_json values_json(const BothRuns& values) {
    return {{"a", or_null(values.a)},
            {"b", or_null(values.b)},
            {"difference_bytes", values.a && values.b ? ordered_json(values.difference()) : ordered_json()}};
}

ordered_json job_difference_json(const JobDifference& difference, size_t limit) {
    const JobComparison& found = difference.found;
    auto ranks = ordered_json::array();
    for (const RankChange& change : found.ranks) {
        ranks.push_back({{"rank", change.rank},
                         {"peak", values_json(change.peak)},
                         {"end", values_json(change.end)},
                         {"growth", values_json(change.growth)}});
    }
    auto sites = ordered_json::array();
    const size_t shown = limited(found.sites.size(), limit);
    for (const SiteChange& site : std::span(found.sites).first(shown)) {
        sites.push_back({{"line", site.line},
                         {"category", category_name(site.category)},
                         {"difference_bytes", site.difference()},
                         {"a", site.a},
                         {"b", site.b}});
    }
    return {{"a", difference.a},
            {"b", difference.b},
            {"ranks", std::move(ranks)},
            {"most_changed", found.most_changed ? ordered_json(found.ranks[*found.most_changed].rank) : ordered_json()},
            {"sites", std::move(sites)},
            {"sites_left_out", found.sites.size() - shown}};
}

}  // namespace

Status print_job_diff(const std::string& a, const std::string& b, size_t limit, const std::string& format,
                      const Words& words, Progress& progress) {
    const auto job_a = open_job(a, progress);
    if (!job_a) {
        return job_a.error();
    }
    const auto job_b = open_job(b, progress);
    if (!job_b) {
        return job_b.error();
    }
    const JobDifference difference{a, b, compare_jobs(*job_a, *job_b)};
    if (format == "json") {
        return print_json(job_difference_json(difference, limit));
    }
    return print(most_changed_words(difference, words) + ranks_table(difference.found, words) +
                 sites_table(difference.found, limit, words));
}

}  // namespace tidemark::cli
