// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/clocks.h"

#include <algorithm>
#include <vector>

#include "storage/job/job.h"

namespace tidemark {
namespace {

constexpr size_t fewest = 3;  ///< a median of less is no better than one of them

/// Returns how much later the other process saw what both have.
template <class Key, class Member>
std::vector<int64_t> offsets_between(const ProcessSummary& first, const ProcessSummary& other,
                                     std::vector<Member> ProcessSummary::*list, Key Member::*key) {
    std::map<Key, int64_t> times;
    for (const Member& one : first.*list) {
        times.emplace(one.*key, first.start_utc_ns + one.time);
    }
    std::vector<int64_t> offsets;
    for (const Member& one : other.*list) {
        if (const auto same = times.find(one.*key); same != times.end()) {
            offsets.push_back(other.start_utc_ns + one.time - same->second);
        }
    }
    return offsets;
}

/// Returns whether the names of a process's meetings count all its calls.
bool was_seen_from_the_start(const ProcessSummary& process) {
    const auto is_start = [](const Meeting& meeting) { return meeting.name == "init_process_group 0"; };
    return std::any_of(process.meetings.begin(), process.meetings.end(), is_start);
}

int64_t offset_between(const ProcessSummary& first, const ProcessSummary& other) {
    std::vector<int64_t> meetings;
    if (was_seen_from_the_start(first) && was_seen_from_the_start(other)) {
        meetings = offsets_between(first, other, &ProcessSummary::meetings, &Meeting::name);
    }
    std::vector<int64_t> steps = offsets_between(first, other, &ProcessSummary::step_ends, &StepEnd::number);
    const bool uses_steps = meetings.size() < fewest && steps.size() >= fewest;
    std::vector<int64_t>& offsets = uses_steps ? steps : meetings;
    if (offsets.empty()) {
        return 0;
    }
    const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>(offsets.size() / 2);
    std::nth_element(offsets.begin(), middle, offsets.end());
    return *middle;
}

}  // namespace

std::map<std::string, int64_t> compare_clocks(std::span<const JobMember* const> ranks) {
    std::map<std::string, int64_t> clocks;
    for (const JobMember* member : ranks) {
        const std::string& node = member->summary->place.node;
        const ProcessSummary& first = *ranks.front()->summary;
        if (!clocks.contains(node)) {
            clocks[node] = node == first.place.node ? 0 : offset_between(first, *member->summary);
        }
    }
    return clocks;
}

}  // namespace tidemark
