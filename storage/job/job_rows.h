// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The processes of a job as rows over time: which value is shown, and in which order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/job/explain_job.h"

namespace tidemark {

/// A job and its explanation in the reader's language. Immutable.
struct ExplainedJob {
    Job job;
    JobExplanation explanation;
};

enum class JobValue : uint8_t { allocated, reserved, used };  ///< used: of the GPU, relative to its size
enum class JobOrder : uint8_t { rank, peak, growth, end };

class JobRows {
public:
    JobRows() = default;
    /// `busy_only`: leaves out the time before any process had a twentieth of its peak: imports, and loading of data.
    JobRows(std::shared_ptr<const ExplainedJob> explained, JobValue value, JobOrder order, bool busy_only);

    bool empty() const { return rows_.empty(); }
    int size() const { return static_cast<int>(rows_.size()); }
    const ExplainedJob& explained() const { return *explained_; }
    const JobMember& member(int row) const { return explained_->job.members[position(row)]; }
    /// Returns the position in Job::members.
    size_t position(int row) const { return rows_[static_cast<size_t>(row)]; }
    /// Returns the row of a position; -1 if it has none.
    int row_of(size_t position) const;
    std::string name(int row, const Words& words) const { return member_name(member(row), words); }

    /// Returns the shown value at a time of the job (ns since 1970): bytes. Nothing before and after the process, and
    /// where it is unknown.
    std::optional<int64_t> value_at(int row, int64_t time) const;
    /// Returns the value that gets the color of the highest: the highest of all rows, or the size of the GPU.
    int64_t highest(int row) const;
    /// Returns the row's highest value, in bytes.
    int64_t peak(int row) const;
    /// Returns the severities of the findings about the row: each once, in the order of the findings.
    const std::vector<Severity>& severities(int row) const { return severities_[position(row)]; }
    std::pair<int64_t, int64_t> span() const { return span_; }
    JobValue value() const { return value_; }

private:
    void find_severities();
    int64_t busy_since() const;
    const std::vector<int64_t>& curve(const DeviceSummary& device) const;

    std::shared_ptr<const ExplainedJob> explained_;
    JobValue value_ = JobValue::allocated;
    std::vector<size_t> rows_;
    std::vector<std::vector<Severity>> severities_;  ///< by position
    std::pair<int64_t, int64_t> span_{0, 0};
    int64_t highest_ = 0;
};

}  // namespace tidemark
