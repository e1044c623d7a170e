// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "storage/allocator/rules.h"
#include "storage/whatif/hidden_inputs.h"
#include "storage/whatif/recorded_moves.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

namespace {

/// Reserved bytes during a history.
class Reserved {
public:
    explicit Reserved(const DeviceHistory& device) {
        int64_t bytes = 0;
        for (const Segment& s : device.segments) {
            bytes += s.alive_at(0) ? static_cast<int64_t>(s.size) : 0;
        }
        after_.push_back({before_history, bytes});
        for (const DriverMove& move : recorded_moves(device, recorded_inputs(device).pools)) {
            bytes += move.arrives ? static_cast<int64_t>(move.size) : -static_cast<int64_t>(move.size);
            after_.push_back({move.event, bytes});
        }
    }

    int64_t before(EventNumber event) const {
        const auto next = std::lower_bound(after_.begin() + 1, after_.end(), event,
                                           [](const auto& step, EventNumber e) { return step.first < e; });
        return std::prev(next)->second;
    }
    int64_t peak() const {
        return std::max_element(after_.begin(), after_.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->second;
    }

private:
    std::vector<std::pair<EventNumber, int64_t>> after_;  ///< bytes after an event
};

/// Returns an upper bound of the bytes that were missing at an OOM.
int64_t needed(const AllocatorSettings& settings, uint64_t size) {
    const uint64_t portion = size <= small_size ? small_segment : settings.large_segment;
    return static_cast<int64_t>(settings.expandable_segments ? (size + portion - 1) / portion * portion
                                                             : segment_size(settings, size));
}

/// Derives limits of the capacity from refusals. An OOM with fewer free bytes than needed shows the capacity of the
/// device. With more free bytes, a limit of the process applied: it lies between the bytes reserved before and those
/// that the request needed, as at a retry that succeeded.
class Refusals {
public:
    Refusals(const DeviceHistory& device, const AllocatorSettings& settings, const Reserved& reserved)
        : settings_(settings), reserved_(reserved) {
        for (const OtherEvent& other : device.others) {
            if (other.action == Action::oom) {
                add_oom(other);
            }
        }
        if (settings.retries_show()) {
            add_retries(device);
        }
    }

    std::optional<Capacity> capacity() const {
        if (device_had_ == none && below_ == none) {
            return std::nullopt;
        }
        const int64_t peak = reserved_.peak(), below = std::max(below_, peak + 1);
        if (device_had_ < below) {
            const int64_t bytes = std::max(device_had_, peak);
            return Capacity{bytes, true, bytes + 1};
        }
        return Capacity{peak, below - peak <= static_cast<int64_t>(settings_.large_segment), below};
    }

private:
    static constexpr int64_t none = INT64_MAX;

    void add_oom(const OtherEvent& oom) {
        const int64_t before = reserved_.before(oom.event), needed_bytes = needed(settings_, oom.size);
        if (const int64_t free = static_cast<int64_t>(oom.address); free < needed_bytes) {
            device_had_ = std::min(device_had_, before + free);
        } else {
            below_ = std::min(below_, before + needed_bytes);
        }
    }

    void add_retries(const DeviceHistory& device) {
        const std::vector<DriverMove> moves = recorded_moves(device, recorded_inputs(device).pools);
        for (size_t m = 0; m < moves.size();) {
            if (moves[m].arrives) {
                ++m;
                continue;
            }
            const ReturnRun run = return_run(device, moves, m, false);
            if (run.by_request && run.end < moves.size() && moves[run.end].arrives) {
                below_ = std::min(below_, reserved_.before(moves[m].event) + static_cast<int64_t>(moves[run.end].size));
            }
            m = run.end;
        }
    }

    const AllocatorSettings& settings_;
    const Reserved& reserved_;
    int64_t device_had_ = none, below_ = none;
};

/// Returns the device memory without other processes, at the sample with the least free memory.
std::optional<Capacity> from_samples(const Trace& trace, const DeviceHistory& device, const Reserved& reserved) {
    int64_t least = INT64_MAX;
    for (const Sample& sample : trace.samples) {
        if (sample.device == device.device && !sample.pid && sample.total_bytes > 0) {
            const int64_t ours = reserved.before(device.events_until(sample.time));
            least = std::min(least, sample.total_bytes - sample.used_bytes + ours);
        }
    }
    if (least == INT64_MAX) {
        return std::nullopt;
    }
    return Capacity{std::max(least, reserved.peak())};
}

}  // namespace

std::optional<Capacity> find_capacity(const Trace& trace, const DeviceHistory& device) {
    const AllocatorSettings settings = AllocatorSettings::from_text(trace.settings);
    const Reserved reserved(device);
    if (settings.memory_fraction > 0 && device.total_bytes > 0) {
        const double bytes = settings.memory_fraction * static_cast<double>(device.total_bytes);
        return Capacity{static_cast<int64_t>(bytes), true, static_cast<int64_t>(bytes) + 1};
    }
    if (const auto seen = Refusals(device, settings, reserved).capacity()) {
        return seen;
    }
    if (const auto sampled = from_samples(trace, device, reserved)) {
        return sampled;
    }
    return device.total_bytes > 0 ? std::optional(Capacity{reserved.peak()}) : std::nullopt;
}

}  // namespace tidemark
