// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/finding_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

namespace tidemark {
namespace {

using Stacks = std::unordered_set<StackId>;

/// Returns whether the finding's bytes are a part of the allocator's memory. Others, such as the CUDA context, are not.
bool is_of_allocator(const Finding& finding) {
    return !finding.component || *finding.component == ComponentKind::requested ||
           *finding.component == ComponentKind::rounding;
}

Stacks stacks_of(const Finding& finding) {
    Stacks stacks(finding.accounts_for.begin(), finding.accounts_for.end());
    stacks.insert(finding.stack);
    stacks.erase(0);
    return stacks;
}

/// Returns the states in which the finding's memory may be: its own first.
std::vector<EventNumber> states_of(const AnalysisContext& context, const Finding& finding) {
    std::vector<EventNumber> states{context.now()};
    for (const Evidence& evidence : finding.evidence) {
        if (evidence.event) {
            states.push_back(std::clamp<EventNumber>(*evidence.event, 0, context.device().event_count()));
        } else if (evidence.allocation && evidence.allocation.device == context.device_position()) {
            states.push_back(context.device().allocations.alloc_event[evidence.allocation.index] + 1);
        }
    }
    return states;
}

FindingMemory memory_at(const AnalysisContext& context, const Stacks& stacks, EventNumber state) {
    std::vector<AllocationIndex> found;
    context.analysis().live().for_each_active(state, [&](AllocationIndex a) {
        if (stacks.contains(context.device().allocations.stack[a])) {
            found.push_back(a);
        }
    });
    return memory_of(context, std::move(found), state);
}

FindingMemory named_memory(const AnalysisContext& context, const Finding& finding) {
    std::vector<AllocationIndex> named;
    EventNumber state = 0;
    for (const Evidence& evidence : finding.evidence) {
        if (evidence.allocation && evidence.allocation.device == context.device_position()) {
            named.push_back(evidence.allocation.index);
            state = std::max(state, context.device().allocations.alloc_event[named.back()] + 1);
        }
    }
    return memory_of(context, std::move(named), state);
}

/// Returns how far the memory is from the finding's bytes; 1 is equal, and more is farther.
double distance(const FindingMemory& memory, const Finding& finding) {
    if (memory.bytes <= 0 || finding.bytes <= 0) {
        return std::numeric_limits<double>::infinity();
    }
    const double ratio = static_cast<double>(memory.bytes) / static_cast<double>(finding.bytes);
    return std::max(ratio, 1 / ratio);
}

/// Returns the allocation that this one replaced: the last one from the same stack that is not larger and existed when
/// this one was made.
std::optional<AllocationIndex> replaced_by(const Allocations& all, AllocationIndex a) {
    for (AllocationIndex older = a; older-- > 0;) {
        if (all.stack[older] == all.stack[a] && all.requested[older] <= all.requested[a] &&
            all.free_completed[older] >= all.alloc_event[a]) {
            return older;
        }
    }
    return std::nullopt;
}

/// Returns whether the program makes the memory of a leak anew while it grows, as a copy of all tensors of a list in
/// each step: the growth is older than all of these allocations, by more than their own age.
bool is_remade(const DeviceHistory& device, const Finding& finding) {
    const auto& memory = finding.memory.allocations;
    if (finding.severity != Severity::leak || !finding.since || memory.empty()) {
        return false;
    }
    const int64_t oldest = device.time_of_state(device.allocations.alloc_event[memory.front()] + 1);
    return oldest - *finding.since > device.time_of_state(finding.memory.event) - oldest;
}

/// Returns all allocations of the stacks and sizes of the finding's own ones.
std::vector<AllocationIndex> made_alike(const DeviceHistory& device, const Finding& finding) {
    const Allocations& all = device.allocations;
    std::set<std::pair<StackId, uint64_t>> alike;
    for (const AllocationIndex a : finding.memory.allocations) {
        alike.emplace(all.stack[a], all.requested[a]);
    }
    std::vector<AllocationIndex> found;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (alike.contains({all.stack[a], all.requested[a]})) {
            found.push_back(a);
        }
    }
    return found;
}

}  // namespace

FindingMemory memory_of(const AnalysisContext& context, std::vector<AllocationIndex> allocations, EventNumber state) {
    std::sort(allocations.begin(), allocations.end());
    allocations.erase(std::unique(allocations.begin(), allocations.end()), allocations.end());
    FindingMemory memory{state, std::move(allocations), 0};
    for (const AllocationIndex a : memory.allocations) {
        memory.bytes += static_cast<int64_t>(context.device().allocations.block_size[a]);
    }
    return memory;
}

void set_allocations(Finding& finding, const AnalysisContext& context, const std::vector<AllocationIndex>& allocations,
                     EventNumber state) {
    finding.memory = memory_of(context, allocations, state);
    finding.count = static_cast<int64_t>(allocations.size());
    finding.component = ComponentKind::requested;
}

FindingMemory find_memory(const AnalysisContext& context, const Finding& finding) {
    constexpr double farthest = 1.25;  // other memory would only mislead
    if (!is_of_allocator(finding)) {
        return {};
    }
    FindingMemory best;
    double best_distance = farthest;
    const auto consider = [&](FindingMemory memory) {
        if (const double far = distance(memory, finding); far < best_distance) {
            best_distance = far;
            best = std::move(memory);
        }
    };
    if (const Stacks stacks = stacks_of(finding); !stacks.empty()) {
        for (const EventNumber state : states_of(context, finding)) {
            consider(memory_at(context, stacks, state));
        }
    }
    consider(named_memory(context, finding));
    return best;
}

std::vector<AllocationIndex> memory_over_time(const DeviceHistory& device, const Finding& finding) {
    std::vector<AllocationIndex> found = finding.memory.allocations;
    // The memory of a failure is that of the leak that led to it: one tensor is the last of those that grew.
    const bool grew = finding.kind == FindingKind::out_of_memory && found.size() == 1;
    if (finding.kind != FindingKind::growing_tensor && !grew) {
        return is_remade(device, finding) ? made_alike(device, finding) : found;
    }
    std::unordered_set<AllocationIndex> known(found.begin(), found.end());
    for (size_t i = 0; i < found.size(); ++i) {
        const bool has_stack = device.allocations.stack[found[i]] != 0;
        const auto older = has_stack ? replaced_by(device.allocations, found[i]) : std::nullopt;
        if (older && known.insert(*older).second) {
            found.push_back(*older);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace tidemark
