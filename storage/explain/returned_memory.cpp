// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/returned_memory.h"

#include <algorithm>
#include <unordered_map>

#include "storage/allocator/rules.h"
#include "storage/explain/reserved_growth.h"
#include "storage/whatif/hidden_inputs.h"
#include "storage/whatif/recorded_moves.h"

namespace tidemark {
namespace {

/// Times at which the driver had freed memory, by address. An address may occur more than once.
using FreeTimes = std::unordered_multimap<uint64_t, int64_t>;

FreeTimes driver_free_times(const AnalysisContext& context) {
    FreeTimes times;
    for (const DriverAllocation& row : context.trace().driver_allocations) {
        if (row.in_allocator && row.free_time && row.device == context.device().device) {
            times.emplace(row.address, *row.free_time);
        }
    }
    return times;
}

/// Returns the time from the allocator's event, which comes right before the driver's call, to the end of that call.
std::optional<int64_t> time_of_free(const FreeTimes& times, uint64_t address, int64_t event_time) {
    std::optional<int64_t> least;
    const auto [begin, end] = times.equal_range(address);
    for (auto at = begin; at != end; ++at) {
        const int64_t took = at->second - event_time;
        if (took >= 0 && (!least || took < *least)) {
            least = took;
        }
    }
    return least;
}

int64_t time_of(const DeviceHistory& device, EventNumber event) {
    return device.event_time[static_cast<size_t>(event)];
}

ReturnedMemory read_run(const AnalysisContext& context, const std::vector<DriverMove>& moves, const ReturnRun& run,
                        const FreeTimes& times) {
    ReturnedMemory back;
    back.event = moves[run.first].event;
    back.stack = moves[run.first].stack;
    back.free_time = times.empty() ? std::nullopt : std::optional<int64_t>(0);
    for (size_t i = run.first; i < run.end; ++i) {
        back.bytes += static_cast<int64_t>(moves[i].size);
        if (back.free_time) {
            *back.free_time +=
                time_of_free(times, moves[i].address, time_of(context.device(), moves[i].event)).value_or(0);
        }
    }
    return back;
}

void add_arrival(ReturnedMemory& back, const DeviceHistory& device, const DriverMove& move) {
    const auto size = static_cast<int64_t>(move.size);
    if (back.taken_again + size <= back.bytes) {
        back.taken_again += size;
        back.ask_time += move.event > 0 ? time_of(device, move.event) - time_of(device, move.event - 1) : 0;
    }
}

}  // namespace

std::vector<ReturnedMemory> returned_memory(const AnalysisContext& context) {
    const std::vector<DriverMove> moves = recorded_moves(context.device(), recorded_inputs(context.device()).pools);
    const FreeTimes times = driver_free_times(context);
    const bool retries_show = AllocatorSettings::from_text(context.trace().settings).retries_show();
    std::vector<ReturnedMemory> list;
    for (size_t i = 0; i < moves.size();) {
        if (moves[i].arrives) {
            if (!list.empty()) {
                add_arrival(list.back(), context.device(), moves[i]);
            }
            ++i;
            continue;
        }
        const ReturnRun run = return_run(context.device(), moves, i, !retries_show);
        if (!run.by_request) {
            list.push_back(read_run(context, moves, run, times));
        }
        i = std::max(run.end, i + 1);
    }
    return list;
}

std::vector<Retry> retries(const AnalysisContext& context) {
    std::vector<Retry> list;
    if (!AllocatorSettings::from_text(context.trace().settings).retries_show()) {
        return list;
    }
    const DeviceHistory& device = context.device();
    const std::vector<DriverMove> moves = recorded_moves(device, recorded_inputs(device).pools);
    for (size_t i = 0; i < moves.size();) {
        if (moves[i].arrives) {
            ++i;
            continue;
        }
        const ReturnRun run = return_run(device, moves, i, false);
        if (run.by_request && run.end < moves.size() && moves[run.end].arrives) {
            Retry retry{moves[i].event, 0, request_of(device, moves[run.end].event)};
            for (size_t m = run.first; m < run.end; ++m) {
                retry.bytes += static_cast<int64_t>(moves[m].size);
            }
            if (retry.request != no_allocation && retry.event < context.now()) {
                list.push_back(retry);
            }
        }
        i = std::max(run.end, i + 1);
    }
    return list;
}

}  // namespace tidemark
