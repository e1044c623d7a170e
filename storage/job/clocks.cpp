// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/job/clocks.h"

#include <algorithm>
#include <vector>

#include "storage/job/job.h"

namespace tidemark {
namespace {

constexpr size_t fewest_steps = 3;

int64_t offset_between(const ProcessSummary& first, const ProcessSummary& other) {
    std::map<int64_t, int64_t> ends;
    for (const StepEnd& step : first.step_ends) {
        ends[step.number] = first.start_utc_ns + step.time;
    }
    std::vector<int64_t> offsets;
    for (const StepEnd& step : other.step_ends) {
        if (const auto same = ends.find(step.number); same != ends.end()) {
            offsets.push_back(other.start_utc_ns + step.time - same->second);
        }
    }
    if (offsets.size() < fewest_steps) {
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
