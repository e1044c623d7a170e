// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/recorded_moves.h"

#include <algorithm>

namespace tidemark {

namespace {

/// Joins the pieces that one event added or removed. Requires `moves` sorted by event.
void join_pieces(std::vector<DriverMove>& moves) {
    size_t joined = 0;
    for (const DriverMove& move : moves) {
        if (joined == 0 || moves[joined - 1].event != move.event) {
            moves[joined++] = move;
            continue;
        }
        DriverMove& whole = moves[joined - 1];
        const uint64_t end = std::max(whole.address + whole.size, move.address + move.size);
        whole.address = std::min(whole.address, move.address);
        whole.size = end - whole.address;
    }
    moves.resize(joined);
}

/// Returns the stack of the memory request after the run: the next move that adds memory, or an OOM. Nothing if there
/// is none.
std::optional<StackId> requesting_stack(const DeviceHistory& device, const std::vector<DriverMove>& moves, size_t next,
                                        EventNumber event) {
    if (next < moves.size() && moves[next].event == event && moves[next].arrives) {
        return moves[next].stack;
    }
    const EventRef ref = device.event_ref[static_cast<size_t>(event)];
    if (ref.action() == Action::oom) {
        return device.others[ref.index()].stack;
    }
    return std::nullopt;
}

/// Returns whether the returned memory was large enough for the next request. The driver was then not needed, so the
/// program called empty_cache() (cuDNN's benchmark does, from the same line).
bool would_have_served(const std::vector<DriverMove>& moves, const ReturnRun& run) {
    if (run.end == moves.size() || !moves[run.end].arrives) {
        return false;
    }
    const DriverMove& next = moves[run.end];
    return std::any_of(moves.begin() + static_cast<std::ptrdiff_t>(run.first),
                       moves.begin() + static_cast<std::ptrdiff_t>(run.end), [&](const DriverMove& move) {
                           return move.owner == next.owner && !move.owner.is_expandable && move.size >= next.size;
                       });
}

}  // namespace

std::vector<DriverMove> recorded_moves(const DeviceHistory& device, const std::vector<uint32_t>& pools) {
    std::vector<DriverMove> moves;
    for (size_t i = 0; i < device.segments.size(); ++i) {
        const Segment& s = device.segments[i];
        const SegmentOwner owner{s.stream, pools[i], s.is_large, s.is_expandable};
        if (s.alloc_event != before_history) {
            moves.push_back({s.alloc_event, s.address, s.size, true, owner, s.stack});
        }
        if (s.free_event != never) {
            moves.push_back({s.free_event, s.address, s.size, false, owner, s.free_stack});
        }
    }
    std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
    join_pieces(moves);
    return moves;
}

ReturnRun return_run(const DeviceHistory& device, const std::vector<DriverMove>& moves, size_t first,
                     bool without_stacks) {
    ReturnRun run{first, first + 1, false};
    for (EventNumber e = moves[first].event + 1; e < device.event_count(); ++e) {
        if (run.end < moves.size() && moves[run.end].event == e && !moves[run.end].arrives) {
            ++run.end;
            continue;
        }
        const Action action = device.event_ref[static_cast<size_t>(e)].action();
        if (action == Action::free_completed || action == Action::unknown) {
            continue;
        }
        const auto stack = requesting_stack(device, moves, run.end, e);
        const StackId returned = moves[first].stack;
        run.by_request = stack && (returned == 0 ? without_stacks && *stack == 0 : *stack == returned) &&
                         (without_stacks || !would_have_served(moves, run));
        break;
    }
    return run;
}

std::vector<uint32_t> pools_of(const std::vector<DriverMove>& moves, const ReturnRun& run) {
    std::vector<uint32_t> pools;
    for (size_t m = run.first; m < run.end; ++m) {
        if (std::find(pools.begin(), pools.end(), moves[m].owner.pool) == pools.end()) {
            pools.push_back(moves[m].owner.pool);
        }
    }
    return pools;
}

}  // namespace tidemark
