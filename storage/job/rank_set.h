// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job side by side, for the rules that compare them.
#pragma once

#include <functional>
#include <vector>

#include "storage/job/explain_job.h"

namespace tidemark {

/// The ranks that have a device; the processes that have one, if none is a rank. Refers to the job.
class RankSet {
public:
    RankSet(const Job& job, const Words& words);

    /// Returns whether they do the same work, so that they can be compared.
    bool are_ranks() const { return are_ranks_; }

    const Job& job() const { return job_; }
    const Words& words() const { return words_; }
    size_t size() const { return ranks_.size(); }
    /// `i`: below size(), by rank.
    const DeviceSummary& device(size_t i) const { return *job_.members[ranks_[i]].device(); }
    const JobMember& member(size_t i) const { return job_.members[ranks_[i]]; }
    /// Returns the position in Job::members.
    size_t position(size_t i) const { return ranks_[i]; }
    std::vector<size_t> positions(const std::vector<size_t>& some) const;

    /// Returns the rank that stands for the usual: the one with the median of the values; of two, with the lower one.
    size_t usual(const std::function<int64_t(const DeviceSummary&)>& value) const;
    /// Returns the ranks with clearly more than the usual one.
    std::vector<size_t> with_more(const std::function<int64_t(const DeviceSummary&)>& value) const;

private:
    const Job& job_;
    const Words& words_;
    std::vector<size_t> ranks_;
    bool are_ranks_ = false;
};

/// Returns the site with this line; nullptr if it is not among the largest.
const SiteMemory* find_site(const DeviceSummary& device, std::string_view line);

/// Returns the growth at this line, if the trace has such a finding.
const FindingSummary* leak_at(const DeviceSummary& device, const std::string& line);

/// Returns the waste at this line, if the trace has such a finding.
const FindingSummary* waste_at(const DeviceSummary& device, const std::string& line);

/// Returns what retains the memory of a line, by the trace's findings; "" if none says it.
std::string referrer_of(const DeviceSummary& device, const std::string& line, const Words& words);
/// Returns the finding's sentences in the language of the words.
const FindingTexts& texts_in(const FindingSummary& finding, const Words& words);

/// The rules. Each adds what it finds.
void find_out_of_memory(const RankSet& ranks, std::vector<JobFinding>& findings);
void find_late_frees(const RankSet& ranks, std::vector<JobFinding>& findings);
void find_imbalance(const RankSet& ranks, std::vector<JobFinding>& findings);
void find_missing_steps(const RankSet& ranks, std::vector<JobFinding>& findings);
/// Runs last: leaves out what other findings explain.
void find_findings_of_traces(const RankSet& ranks, std::vector<JobFinding>& findings);

}  // namespace tidemark
