// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/endings.h"

#include <algorithm>

#include "storage/base/units.h"

namespace tidemark {
namespace {

bool has_failed(const ProcessSummary& summary) {
    const bool ran_out = std::any_of(summary.devices.begin(), summary.devices.end(),
                                     [](const DeviceSummary& device) { return device.oom.has_value(); });
    return ran_out || summary.how_ended == ProcessEnd::exception || summary.how_ended == ProcessEnd::killed ||
           summary.exit_status.value_or(0) != 0;
}

/// Returns when the process ended, on the clock of the job.
int64_t end_of(const Job& job, const JobMember& member) {
    return job.job_time(member, member.summary->end.value_or(member.summary->duration));
}

/// Returns the first process that failed; nullptr if none is known to have failed.
const JobMember* first_failure(const Job& job) {
    const JobMember* first = nullptr;
    for (const JobMember& member : job.members) {
        if (member.summary && has_failed(*member.summary) &&
            (first == nullptr || end_of(job, member) < end_of(job, *first))) {
            first = &member;
        }
    }
    return first;
}

}  // namespace

std::vector<std::string> silent_endings(const Job& job, const Words& words) {
    const JobMember* failure = first_failure(job);
    const int64_t start = job.span().first;
    std::vector<std::string> sentences;
    for (const JobMember& member : job.members) {
        if (!member.summary || member.summary->how_ended != ProcessEnd::silent || &member == failure) {
            continue;
        }
        const int64_t end = end_of(job, member);
        const auto name = with("member", member_name(member, words));
        const auto time = with("time", format_duration(end - start));
        const auto last = with("last", format_duration(job.job_time(member, member.summary->last_event) - start));
        sentences.push_back(
            failure != nullptr && end_of(job, *failure) <= end
                ? words("{member} ended {time} after the start without reporting why, {after} after {failed} had "
                        "failed: a launcher such as torchrun then ends the other processes by a signal. Its last event "
                        "was {last} after the start.",
                        name, time, last, with("after", format_duration(end - end_of(job, *failure))),
                        with("failed", member_name(*failure, words)))
                : words("{member} ended {time} after the start without reporting why, as a process does that a signal "
                        "ends. Its last event was {last} after the start, and no other process had failed before.",
                        name, time, last));
    }
    return sentences;
}

}  // namespace tidemark
