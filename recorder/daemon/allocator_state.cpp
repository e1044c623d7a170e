// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/allocator_state.h"

#include <fmt/format.h>

#include <iterator>

#include "storage/base/units.h"

namespace tidemark::recorder {

namespace {

using Segments = std::map<uint64_t, AllocatorState::Segment>;

/// Removes [address, address + size) from the segments that it overlaps.
void cut_out(Segments& segments, uint64_t address, uint64_t size) {
    const uint64_t end = address + size;
    auto at = segments.upper_bound(address);
    if (at != segments.begin()) {
        --at;
    }
    while (at != segments.end() && at->first < end) {
        const uint64_t start = at->first, stop = start + at->second.size;
        const SegmentOwner owner = at->second.owner;
        if (stop <= address) {
            ++at;
            continue;
        }
        at = segments.erase(at);
        if (start < address) {
            segments[start] = {address - start, owner};
        }
        if (end < stop) {
            segments[end] = {stop - end, owner};
        }
    }
}

std::string describe(const AllocatorState::Block& block) {
    return fmt::format("{} of {} requested, {}", format_bytes(static_cast<int64_t>(block.size)),
                       format_bytes(static_cast<int64_t>(block.requested)),
                       block.is_pending ? "pending free" : "allocated");
}

std::string describe(const AllocatorState::Segment& segment) {
    return fmt::format("a {} segment of {}", segment.owner.is_large ? "large" : "small",
                       format_bytes(static_cast<int64_t>(segment.size)));
}

/// Returns the number of addresses at which two maps differ. Describes the first one in `example` if that is empty.
template <class Row>
int64_t differing(const std::map<uint64_t, Row>& reported, const std::map<uint64_t, Row>& replayed,
                  std::string& example) {
    int64_t count = 0;
    const auto differ = [&](uint64_t address, const std::string& has, const std::string& computed) {
        if (count++ == 0 && example.empty()) {
            example =
                fmt::format("at {}, PyTorch reports {}, the replay has {}", format_address(address), has, computed);
        }
    };
    for (const auto& [address, row] : reported) {
        const auto found = replayed.find(address);
        if (found == replayed.end()) {
            differ(address, describe(row), "nothing");
        } else if (!(found->second == row)) {
            differ(address, describe(row), describe(found->second));
        }
    }
    for (const auto& [address, row] : replayed) {
        if (!reported.contains(address)) {
            differ(address, "nothing", describe(row));
        }
    }
    return count;
}

}  // namespace

AllocatorState AllocatorState::of(const BlockMap& map) {
    AllocatorState state;
    map.for_each_range([&](uint64_t address, uint64_t size, const SegmentOwner& owner,
                           const std::vector<BlockMap::BlockView>& blocks) {
        state.segments[address] = {size, owner};
        for (const BlockMap::BlockView& block : blocks) {
            if (block.state != BlockMap::State::free) {
                state.blocks[block.address] = {block.size, block.requested, block.state == BlockMap::State::pending};
            }
        }
    });
    return state;
}

void AllocatorState::join_expandable() {
    for (auto at = segments.begin(); at != segments.end();) {
        const auto next = std::next(at);
        const bool joins = next != segments.end() && at->second.owner.is_expandable &&
                           at->second.owner == next->second.owner && at->first + at->second.size == next->first;
        if (joins) {
            at->second.size += next->second.size;
            segments.erase(next);
        } else {
            at = next;
        }
    }
}

void undo(AllocatorState& state, const StateChange& change) {
    switch (change.action) {
        case Action::alloc: state.blocks.erase(change.address); break;
        case Action::free_requested:
            if (const auto found = state.blocks.find(change.address); found != state.blocks.end()) {
                found->second.is_pending = false;
            }
            break;
        case Action::free_completed: state.blocks[change.address] = {change.size, change.requested, true}; break;
        case Action::segment_alloc:
        case Action::segment_map: cut_out(state.segments, change.address, change.size); break;
        case Action::segment_free:
        case Action::segment_unmap: state.segments[change.address] = {change.size, change.owner}; break;
        default: break;
    }
}

StateDifference difference(const AllocatorState& reported, const AllocatorState& replayed) {
    AllocatorState a = reported, b = replayed;
    a.join_expandable();
    b.join_expandable();
    StateDifference result;
    result.segments = differing(a.segments, b.segments, result.example);
    result.blocks = differing(a.blocks, b.blocks, result.example);
    return result;
}

}  // namespace tidemark::recorder
