// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "storage/attribution/attribution.h"
#include "storage/convert/perfetto_parts.h"
#include "storage/convert/span_lanes.h"

namespace tidemark::perfetto {
namespace {

constexpr size_t most_frames = 40;  ///< of a stack, the innermost

/// Returns the largest allocations; of those with one size the oldest.
std::vector<AllocationIndex> largest(const Allocations& all, size_t most) {
    std::vector<AllocationIndex> chosen(all.size());
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        chosen[a] = a;
    }
    if (most == 0 || most >= chosen.size()) {
        return chosen;
    }
    const auto is_larger = [&](AllocationIndex a, AllocationIndex b) {
        return all.block_size[a] != all.block_size[b] ? all.block_size[a] > all.block_size[b] : a < b;
    };
    const auto end = chosen.begin() + static_cast<ptrdiff_t>(most);
    std::nth_element(chosen.begin(), end, chosen.end(), is_larger);
    chosen.erase(end, chosen.end());
    return chosen;
}

struct Lifetime {
    AllocationIndex allocation = no_allocation;
    int64_t start = 0, end = 0;
};

/// Returns the lifetimes in the order that SpanLanes needs.
std::vector<Lifetime> lifetimes_of(const DeviceTimeline& timeline, const std::vector<AllocationIndex>& allocations) {
    const DeviceHistory& device = timeline.history();
    std::vector<Lifetime> lifetimes;
    for (const AllocationIndex a : allocations) {
        const int64_t start = device.alloc_time(a);
        lifetimes.push_back({a, start, std::max(start, device.free_time(a).value_or(timeline.trace().duration))});
    }
    std::stable_sort(lifetimes.begin(), lifetimes.end(), [](const Lifetime& a, const Lifetime& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    return lifetimes;
}

/// Names of stacks, made once each.
class StackTexts {
public:
    explicit StackTexts(const StackTable& stacks) : stacks_(stacks) {}

    /// "net.py:12 forward < main.py:31 main"
    const std::string& of(StackId id) {
        const auto [known, is_new] = texts_.try_emplace(id);
        if (is_new) {
            size_t frames = 0;
            for (StackId stack = id; stack != 0 && frames < most_frames; stack = stacks_.stack(stack).caller) {
                const FrameId frame = stacks_.stack(stack).frame;
                if (stacks_.role(frame) != FrameRole::plumbing) {
                    known->second += (known->second.empty() ? "" : " < ") + describe_frame(stacks_, frame);
                    ++frames;
                }
            }
        }
        return known->second;
    }

private:
    const StackTable& stacks_;
    std::unordered_map<StackId, std::string> texts_;
};

}  // namespace

void write_allocations(const DeviceTimeline& timeline, size_t most, PerfettoSummary& summary) {
    const DeviceHistory& device = timeline.history();
    const Allocations& all = device.allocations;
    const auto chosen = largest(all, most);
    Grouper lines(timeline.trace(), device, GroupBy::line);
    StackTexts stacks(timeline.trace().stacks);
    SpanLanes lanes;
    for (const Lifetime& lifetime : lifetimes_of(timeline, chosen)) {
        const AllocationIndex a = lifetime.allocation;
        const int64_t before = lanes.count();
        const SpanLanes::Place place = lanes.place(lifetime.start, lifetime.end);
        const ChromeTrack track{timeline.process, allocations_thread + place.lane};
        if (lanes.count() > before) {
            timeline.events.name_thread(track, timeline.words("Allocations"));
        }
        const Origin& origin = timeline.trace().origins[all.origin[a]];
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        timeline.events.span(track, lines.name(lines.group_of(a)), timeline.at(lifetime.start), timeline.at(place.end),
                             {{"bytes", bytes},
                              {"requested_bytes", static_cast<int64_t>(all.requested[a])},
                              {"allocation", device.allocation_name(a)},
                              {"module", origin.module},
                              {"op", origin.op},
                              {"phase", word_of(origin.phase)},
                              {"stack", stacks.of(all.stack[a])}});
        summary.smallest = summary.allocations == 0 ? bytes : std::min(summary.smallest, bytes);
        ++summary.allocations;
    }
    summary.allocations_left_out += static_cast<int64_t>(all.size() - chosen.size());
}

}  // namespace tidemark::perfetto
