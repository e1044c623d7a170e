// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/job_rows.h"

#include <algorithm>

namespace tidemark {

namespace {

/// Returns what the rows are sorted by, most first.
int64_t weight(const DeviceSummary& device, JobOrder order) {
    switch (order) {
        case JobOrder::peak: return device.peak_allocated;
        case JobOrder::end: return device.allocated_at_end;
        case JobOrder::growth: return device.growth();
        case JobOrder::rank: break;
    }
    return 0;
}

}  // namespace

JobRows::JobRows(std::shared_ptr<const ExplainedJob> explained, JobValue value, JobOrder order, bool busy_only)
    : explained_(std::move(explained)), value_(value), span_(explained_->job.span()) {
    const auto& members = explained_->job.members;
    for (size_t i = 0; i < members.size(); ++i) {
        if (const DeviceSummary* device = members[i].device()) {
            rows_.push_back(i);
            const auto& values = curve(*device);
            highest_ = std::max(highest_, *std::max_element(values.begin(), values.end()));
        }
    }
    find_severities();
    if (busy_only && !rows_.empty()) {
        span_.first = busy_since();
    }
    if (order != JobOrder::rank) {
        std::stable_sort(rows_.begin(), rows_.end(), [&](size_t a, size_t b) {
            return weight(*members[a].device(), order) > weight(*members[b].device(), order);
        });
    }
}

int64_t JobRows::busy_since() const {
    constexpr int64_t part = 20;
    int64_t since = span_.second;
    for (int row = 0; row < size(); ++row) {
        const DeviceSummary& device = *member(row).device();
        const auto busy = std::find_if(device.allocated.begin(), device.allocated.end(),
                                       [&](int64_t bytes) { return bytes * part > device.peak_allocated; });
        const int64_t columns = busy - device.allocated.begin();
        since = std::min(since, explained_->job.job_time(
                                    member(row), member(row).summary->duration * columns / DeviceSummary::columns));
    }
    return since;
}

int JobRows::row_of(size_t position) const {
    const auto found = std::find(rows_.begin(), rows_.end(), position);
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

const std::vector<int64_t>& JobRows::curve(const DeviceSummary& device) const {
    switch (value_) {
        case JobValue::reserved: return device.reserved;
        case JobValue::used: return device.used;
        case JobValue::allocated: break;
    }
    return device.allocated;
}

std::optional<int64_t> JobRows::value_at(int row, int64_t time) const {
    const JobMember& of_row = member(row);
    const int64_t since = time - explained_->job.job_time(of_row, 0), duration = of_row.summary->duration;
    if (since < 0 || since > duration || duration <= 0) {
        return std::nullopt;
    }
    const double part = static_cast<double>(since) / static_cast<double>(duration);
    const auto column =
        std::min(static_cast<size_t>(part * DeviceSummary::columns), static_cast<size_t>(DeviceSummary::columns - 1));
    const int64_t bytes = curve(*of_row.device())[column];
    return bytes < 0 ? std::nullopt : std::optional(bytes);
}

int64_t JobRows::highest(int row) const {
    const int64_t total = member(row).device()->total_bytes;
    return std::max<int64_t>(value_ == JobValue::used && total > 0 ? total : highest_, 1);
}

int64_t JobRows::peak(int row) const {
    const std::vector<int64_t>& values = curve(*member(row).device());
    return std::max<int64_t>(*std::max_element(values.begin(), values.end()), 0);
}

void JobRows::find_severities() {
    severities_.resize(explained_->job.members.size());
    for (const JobFinding& finding : explained_->explanation.findings) {
        for (const size_t member : finding.members) {
            std::vector<Severity>& known = severities_.at(member);
            const bool is_new = std::find(known.begin(), known.end(), finding.severity) == known.end();
            if (is_new) {
                known.push_back(finding.severity);
            }
        }
    }
}

}  // namespace tidemark
