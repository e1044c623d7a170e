// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Ranks that ran out of memory, and ranks that made fewer steps.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/job/rank_set.h"

namespace tidemark {
namespace {

/// Returns the free memory of the rank's GPU at a time of the job; nothing if it was not recorded.
std::optional<int64_t> free_at(const Job& job, const JobMember& member, int64_t job_time) {
    const DeviceSummary& device = *member.device();
    const int64_t time = job_time - job.job_time(member, 0);
    const double part = static_cast<double>(time) / static_cast<double>(std::max<int64_t>(member.summary->duration, 1));
    if (part < 0 || device.total_bytes == 0) {
        return std::nullopt;
    }
    const auto column = static_cast<size_t>(std::min(part, 1.0) * (DeviceSummary::columns - 1));
    const int64_t used = device.used[column];
    return used < 0 ? std::nullopt : std::optional(device.total_bytes - used);
}

/// "At that time rank 1 had 60.2 GiB free."
std::string others_free(const RankSet& ranks, size_t failed, int64_t job_time) {
    const Words& words = ranks.words();
    constexpr size_t most_listed = 4;
    std::vector<std::string> phrases;
    for (size_t i = 0; i < ranks.size() && phrases.size() < most_listed; ++i) {
        const auto free = i == failed ? std::nullopt : free_at(ranks.job(), ranks.member(i), job_time);
        if (free) {
            phrases.push_back(words("{rank} had {bytes} free", with("rank", member_name(ranks.member(i), words)),
                                    with("bytes", format_bytes(*free))));
        }
    }
    return phrases.empty() ? "" : words("At that time {list} on its GPU.", with("list", words.list(phrases)));
}

JobFinding out_of_memory(const RankSet& ranks, size_t i) {
    const Words& words = ranks.words();
    const OomSummary& oom = *ranks.device(i).oom;
    const std::string name = member_name(ranks.member(i), words);
    JobFinding finding;
    finding.kind = JobFindingKind::out_of_memory;
    finding.severity = Severity::failure;
    finding.members = {ranks.position(i)};
    finding.bytes = ranks.device(i).allocated_at_end;
    finding.title = words("{rank} ran out of memory: it requested {bytes}", with("rank", name),
                          with("bytes", format_bytes(oom.requested)));
    if (std::string text = others_free(ranks, i, ranks.job().job_time(ranks.member(i), oom.time)); !text.empty()) {
        finding.text.push_back(std::move(text));
    }
    for (const FindingSummary& of_trace : ranks.device(i).findings) {
        if (of_trace.kind == FindingKind::out_of_memory) {
            const FindingTexts& texts = texts_in(of_trace, words);
            finding.text.push_back(texts.detail);
            finding.fix = texts.fix;
            finding.of_trace = of_trace.kind;
        }
    }
    return finding;
}

}  // namespace

void find_out_of_memory(const RankSet& ranks, std::vector<JobFinding>& findings) {
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (ranks.device(i).oom) {
            findings.push_back(out_of_memory(ranks, i));
        }
    }
}

void find_missing_steps(const RankSet& ranks, std::vector<JobFinding>& findings) {
    const Words& words = ranks.words();
    int64_t most = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        most = std::max(most, ranks.member(i).summary->steps);
    }
    std::vector<size_t> behind;
    int64_t fewest = most;
    for (size_t i = 0; i < ranks.size(); ++i) {
        const ProcessSummary& summary = *ranks.member(i).summary;
        // The ranks of a job that is recorded now were read one after another.
        if (summary.steps + 1 < most && !summary.is_being_written) {
            behind.push_back(i);
            fewest = std::min(fewest, summary.steps);
        }
    }
    if (behind.empty()) {
        return;
    }
    JobFinding finding;
    finding.kind = JobFindingKind::steps_differ;
    finding.severity = Severity::pattern;
    finding.members = ranks.positions(behind);
    finding.title = words("{ranks}: {fewest} steps were recorded, and {most} of other ranks",
                          with("ranks", ranks_phrase(ranks.job(), finding.members, words)),
                          with("fewest", format_count(fewest)), with("most", format_count(most)));
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
