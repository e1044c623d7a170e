// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The findings of the ranks' own traces: once for all ranks that have them.
#include <algorithm>
#include <map>
#include <optional>

#include "storage/base/units.h"
#include "storage/job/rank_set.h"

namespace tidemark {
namespace {

/// The same finding of several ranks.
struct Same {
    std::vector<size_t> ranks;  ///< the first one's finding says most
    std::vector<const FindingSummary*> findings;
};

/// Findings are the same if they have the same kind and line. A line that grows is one, whatever a rank's scans found
/// of its referrers: then it has no kind.
using SameFindings = std::map<std::pair<std::optional<FindingKind>, std::string>, Same>;

std::optional<FindingKind> kind_to_compare(const FindingSummary& finding) {
    const bool is_growing_line = finding.is_gpu_leak && !finding.is_slow && !finding.line.empty();
    return is_growing_line ? std::nullopt : std::optional(finding.kind);
}

void put_first_what_has_a_referrer(Same& same, const Words& words) {
    const auto named = std::find_if(same.findings.begin(), same.findings.end(),
                                    [&](const auto* finding) { return !texts_in(*finding, words).referrer.empty(); });
    if (named != same.findings.end()) {
        const auto rank = same.ranks.begin() + (named - same.findings.begin());
        std::rotate(same.findings.begin(), named, named + 1);
        std::rotate(same.ranks.begin(), rank, rank + 1);
    }
}

SameFindings group(const RankSet& ranks) {
    SameFindings groups;
    for (size_t i = 0; i < ranks.size(); ++i) {
        for (const FindingSummary& finding : ranks.device(i).findings) {
            Same& same = groups[{kind_to_compare(finding), finding.line}];
            if (same.ranks.empty() || same.ranks.back() != i) {
                same.ranks.push_back(i);
                same.findings.push_back(&finding);
            }
        }
    }
    for (auto& [key, same] : groups) {
        put_first_what_has_a_referrer(same, ranks.words());
    }
    return groups;
}

/// Returns whether it is more than the ordinary work of the ranks.
bool is_worth_reporting(const FindingSummary& finding) {
    return finding.severity != Severity::background && finding.severity != Severity::pattern && !finding.is_slow;
}

bool is_reported(const std::vector<JobFinding>& findings, const FindingSummary& finding) {
    return std::any_of(findings.begin(), findings.end(), [&](const JobFinding& reported) {
        const bool is_same_line = !finding.line.empty() && reported.line == finding.line;
        return (reported.of_trace == finding.kind && (is_same_line || finding.kind == FindingKind::out_of_memory)) ||
               (reported.severity == Severity::leak && is_same_line);
    });
}

std::string range(int64_t least, int64_t most, const Words& words) {
    return least * 20 > most * 19
               ? format_bytes(most)
               : words("{least} to {most}", with("least", format_bytes(least)), with("most", format_bytes(most)));
}

std::string bytes_sentence(const Same& same, const Words& words) {
    const auto [least, most] =
        std::minmax_element(same.findings.begin(), same.findings.end(),
                            [](const FindingSummary* a, const FindingSummary* b) { return a->bytes < b->bytes; });
    return words("It takes {bytes} on each of them.", with("bytes", range((*least)->bytes, (*most)->bytes, words)));
}

JobFinding finding_of(const RankSet& ranks, const Same& same) {
    const Words& words = ranks.words();
    const FindingSummary& first = *same.findings.front();
    const FindingTexts& texts = texts_in(first, words);
    const bool is_of_all = ranks.are_ranks() && same.ranks.size() == ranks.size() && ranks.size() > 1;
    JobFinding finding;
    finding.kind = is_of_all ? JobFindingKind::shared : JobFindingKind::some_ranks;
    finding.severity = first.severity;
    finding.members = ranks.positions(same.ranks);
    finding.line = first.line;
    finding.referrer = texts.referrer;
    finding.bytes = first.bytes;
    finding.per_iteration = first.per_iteration;
    finding.of_trace = first.kind;
    const auto title = with("title", texts.title);
    finding.title =
        !is_of_all ? words("{ranks}: {title}", with("ranks", ranks_phrase(ranks.job(), finding.members, words)), title)
        : ranks.size() == 2
            ? words("both ranks: {title}", title)
            : words.plural(static_cast<int64_t>(ranks.size()), "the rank: {title}", "all {n} ranks: {title}", title);
    finding.text.push_back(texts.detail);
    if (same.ranks.size() > 1 && first.bytes > 0) {
        finding.text.push_back(bytes_sentence(same, words));
    }
    finding.fix = texts.fix;
    return finding;
}

}  // namespace

void find_findings_of_traces(const RankSet& ranks, std::vector<JobFinding>& findings) {
    std::vector<JobFinding> found;
    for (const auto& [key, same] : group(ranks)) {
        if (is_worth_reporting(*same.findings.front()) && !is_reported(findings, *same.findings.front())) {
            found.push_back(finding_of(ranks, same));
        }
    }
    std::move(found.begin(), found.end(), std::back_inserter(findings));
}

}  // namespace tidemark
