// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/explain_job.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "storage/base/units.h"
#include "storage/job/endings.h"
#include "storage/job/gpu_totals.h"
#include "storage/job/rank_set.h"

namespace tidemark {
namespace {

/// Sorts positions by rank and returns runs: 0 to 3, 7.
std::vector<std::pair<int64_t, int64_t>> runs_of(const Job& job, const std::vector<size_t>& members) {
    std::set<int64_t> numbers;
    for (const size_t member : members) {
        numbers.insert(job.members[member].rank().value_or(-1));
    }
    std::vector<std::pair<int64_t, int64_t>> runs;
    for (const int64_t rank : numbers) {
        if (!runs.empty() && runs.back().second + 1 == rank) {
            runs.back().second = rank;
        } else {
            runs.emplace_back(rank, rank);
        }
    }
    return runs;
}

std::string job_sentence(const Job& job, const RankSet& ranks, const Words& words) {
    std::set<std::string> nodes;
    int64_t steps = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        nodes.insert(ranks.member(i).summary->place.node);
        steps = std::max(steps, ranks.member(i).summary->steps);
    }
    const std::string of_ranks = words.plural(static_cast<int64_t>(ranks.size()), "{n} rank", "{n} ranks");
    const std::string on_nodes = words.plural(static_cast<int64_t>(nodes.size()), "{n} node", "{n} nodes");
    const auto others = static_cast<int64_t>(job.members.size() - ranks.size());
    const std::string counted =
        others == 0 ? words("{ranks} on {nodes}", with("ranks", of_ranks), with("nodes", on_nodes))
                    : words("{ranks} on {nodes} and {others}", with("ranks", of_ranks), with("nodes", on_nodes),
                            with("others", words.plural(others, "{n} other process", "{n} other processes")));
    return steps == 0 ? words("The job: {counted}.", with("counted", counted))
                      : words.plural(steps, "The job: {counted}, {n} step.", "The job: {counted}, {n} steps.",
                                     with("counted", counted));
}

std::string range_sentence(const RankSet& ranks) {
    const Words& words = ranks.words();
    size_t least = 0, most = 0;
    for (size_t i = 1; i < ranks.size(); ++i) {
        least = ranks.device(i).peak_allocated < ranks.device(least).peak_allocated ? i : least;
        most = ranks.device(i).peak_allocated > ranks.device(most).peak_allocated ? i : most;
    }
    const auto bytes = with("bytes", format_bytes(ranks.device(most).peak_allocated));
    if (ranks.device(least).peak_allocated == ranks.device(most).peak_allocated) {
        return words("Each rank allocated {bytes} at its peak.", bytes);
    }
    return words("At their peaks, {most} allocated {bytes} and {least} {fewest}.",
                 with("most", member_name(ranks.member(most), words)), bytes,
                 with("least", member_name(ranks.member(least), words)),
                 with("fewest", format_bytes(ranks.device(least).peak_allocated)));
}

/// Says what the trace of a process has, which is compared with no other.
std::string process_sentence(const JobMember& member, const Words& words) {
    const DeviceSummary& device = *member.device();
    const auto name = with("member", member_name(member, words)),
               bytes = with("bytes", format_bytes(device.peak_allocated));
    return device.findings.empty() ? words("{member}: {bytes} allocated at the peak.", name, bytes)
                                   : words("{member}: {bytes} allocated at the peak; {title}.", name, bytes,
                                           with("title", texts_in(device.findings.front(), words).title));
}

/// Lists the processes with the most serious findings: without ranks, no rule compares them.
std::vector<std::string> processes_without_ranks(const Job& job, const Words& words) {
    constexpr size_t most_listed = 3;
    std::vector<const JobMember*> members;
    for (const JobMember& member : job.members) {
        if (member.device() != nullptr) {
            members.push_back(&member);
        }
    }
    const auto key = [](const JobMember* member) {
        const auto& findings = member->device()->findings;
        const Severity severity = findings.empty() ? Severity::background : findings.front().severity;
        return std::pair(severity != Severity::failure, severity);
    };
    std::stable_sort(members.begin(), members.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
    if (members.empty() && std::any_of(job.members.begin(), job.members.end(),
                                       [](const JobMember& member) { return member.is_being_recorded; })) {
        return {words("The job is being recorded. None of its processes has used a GPU yet.")};
    }
    std::vector<std::string> sentences{words.plural(static_cast<int64_t>(job.members.size()),
                                                    "The folder has {n} trace, without a rank: nothing is compared.",
                                                    "The folder has {n} traces, without ranks: nothing is compared.")};
    for (size_t i = 0; i < std::min(most_listed, members.size()); ++i) {
        sentences.push_back(process_sentence(*members[i], words));
    }
    return sentences;
}

std::string first_sentence(const std::vector<JobFinding>& findings, const RankSet& ranks) {
    const Words& words = ranks.words();
    const auto serious = std::find_if(findings.begin(), findings.end(), [](const JobFinding& finding) {
        return finding.severity != Severity::pattern && finding.severity != Severity::background;
    });
    if (serious != findings.end()) {
        return words("First: {title}.", with("title", serious->title));
    }
    return ranks.size() > 1 ? words(
                                  "The ranks use memory alike or as their parts of the model need it, and no rank's "
                                  "memory grows.")
                            : words("Its memory does not grow.");
}

/// Says whose times were corrected by so much that files and logs of the program have visibly other times.
std::vector<std::string> differing_clocks(const Job& job, const Words& words) {
    constexpr int64_t visible = 50'000'000;
    std::vector<std::string> sentences;
    for (const auto& [node, ahead] : job.clocks) {
        if (std::abs(ahead) >= visible) {
            const auto by = with("time", format_duration(std::abs(ahead)));
            sentences.push_back(
                ahead > 0 ? words("The clock of {node} is {time} ahead of that of the first rank's node. Its times are "
                                  "corrected here.",
                                  with("node", node), by)
                          : words("The clock of {node} is {time} behind that of the first rank's node. Its times are "
                                  "corrected here.",
                                  with("node", node), by));
        }
    }
    return sentences;
}

std::vector<std::string> unknowns_of(const Job& job, const Words& words) {
    std::vector<std::string> unknowns;
    for (const JobMember& member : job.members) {
        if (member.failure) {
            unknowns.push_back(words.translate(member.failure->sentence));
        } else if (member.summary->is_being_written) {
            unknowns.push_back(words("{member} is still being recorded: this is its state now.",
                                     with("member", member_name(member, words))));
        } else if (!member.summary->has_clean_end) {
            unknowns.push_back(words("The recording of {member} was cut off: its last moments are missing.",
                                     with("member", member_name(member, words))));
        } else if (member.device() == nullptr) {
            unknowns.push_back(words("{member} used no memory of a GPU.", with("member", member_name(member, words))));
        }
    }
    const std::vector<std::string> endings = silent_endings(job, words);
    unknowns.insert(unknowns.end(), endings.begin(), endings.end());
    if (!job.missing_ranks.empty()) {
        constexpr size_t most_listed = 8;
        std::vector<std::string> numbers;
        for (size_t i = 0; i < std::min(most_listed, job.missing_ranks.size()); ++i) {
            numbers.push_back(fmt::to_string(job.missing_ranks[i]));
        }
        unknowns.push_back(words.plural(
            static_cast<int64_t>(job.missing_ranks.size()), "The folder has no trace of {n} rank: {ranks}.",
            "The folder has no traces of {n} ranks: {ranks}.", with("ranks", words.list(numbers))));
    }
    for (const std::string& path : job.replaced) {
        unknowns.push_back(words("{file} is left out: its rank began again later.",
                                 with("file", std::filesystem::path(path).filename().string())));
    }
    return unknowns;
}

/// Failures come first, as in the explanation of a trace that ended with one; then by severity, then by bytes.
void sort_findings(std::vector<JobFinding>& findings) {
    const auto key = [](const JobFinding& finding) {
        return std::tuple(finding.severity != Severity::failure, finding.severity, finding.kind, -finding.bytes);
    };
    std::stable_sort(findings.begin(), findings.end(),
                     [&](const JobFinding& a, const JobFinding& b) { return key(a) < key(b); });
}

}  // namespace

std::string_view job_finding_word(JobFindingKind kind) {
    constexpr std::array<std::string_view, 9> words{
        "out-of-memory",  "rank-growth",  "rank-imbalance", "late-free", "pipeline-stage-imbalance",
        "peak-imbalance", "steps-differ", "some-ranks",     "all-ranks"};
    return words[static_cast<size_t>(kind)];
}

std::string ranks_phrase(const Job& job, const std::vector<size_t>& members, const Words& words) {
    if (members.size() == 1) {
        return member_name(job.members[members.front()], words);
    }
    constexpr size_t most_runs = 4;
    std::vector<std::string> parts;
    if (!job.members[members.front()].rank()) {
        for (size_t i = 0; i < std::min(most_runs, members.size()); ++i) {
            parts.push_back(member_name(job.members[members[i]], words));
        }
        return members.size() > parts.size()
                   ? words.plural(static_cast<int64_t>(members.size() - parts.size()), "{list} and {n} other",
                                  "{list} and {n} others", with("list", words.list(parts)))
                   : words.list(parts);
    }
    const auto runs = runs_of(job, members);
    int64_t listed = 0;
    for (size_t i = 0; i < std::min(most_runs, runs.size()); ++i) {
        const auto [first, last] = runs[i];
        listed += last - first + 1;
        parts.push_back(first == last ? fmt::to_string(first)
                                      : words("{first} to {last}", with("first", first), with("last", last)));
    }
    if (const int64_t others = static_cast<int64_t>(members.size()) - listed; others > 0) {
        parts.push_back(words.plural(others, "{n} other", "{n} others"));
    }
    return words("ranks {list}", with("list", words.list(parts)));
}

JobExplanation explain_job(const Job& job, const Words& words) {
    const RankSet ranks(job, words);
    JobExplanation explanation;
    find_out_of_memory(ranks, explanation.findings);
    if (ranks.are_ranks()) {
        find_late_frees(ranks, explanation.findings);
        find_imbalance(ranks, explanation.findings);
        find_missing_steps(ranks, explanation.findings);
    }
    find_findings_of_traces(ranks, explanation.findings);
    sort_findings(explanation.findings);
    if (!ranks.are_ranks()) {
        explanation.summary = processes_without_ranks(job, words);
    } else {
        explanation.summary.push_back(job_sentence(job, ranks, words));
        explanation.summary.push_back(range_sentence(ranks));
        explanation.summary.push_back(first_sentence(explanation.findings, ranks));
        const std::vector<std::string> clocks = differing_clocks(job, words);
        explanation.summary.insert(explanation.summary.end(), clocks.begin(), clocks.end());
    }
    explanation.gpus = gpu_totals(job);
    explanation.unknowns = unknowns_of(job, words);
    return explanation;
}

}  // namespace tidemark
