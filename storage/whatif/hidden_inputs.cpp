// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/hidden_inputs.h"

#include <algorithm>

#include "storage/allocator/rules.h"
#include "storage/whatif/model_replay.h"

namespace tidemark {

namespace {

constexpr int most_replays = 200;

/// Older snapshots name the pools of what is there at their end only; where that is none, everything was taken for the
/// default pool's.
bool pool_is_open(const Trace& trace, const Segment& segment) {
    return !segment.pool_known || (trace.processes.empty() && trace.pools.size() <= 1);
}

/// Infers pools where the recording lacks them.
class PoolSearch {
public:
    PoolSearch(const Trace& trace, const DeviceHistory& device, HiddenInputs& inputs)
        : device_(device), inputs_(inputs), first_(static_cast<uint32_t>(trace.pools.size())) {
        for (const Segment& s : device.segments) {
            is_open_.push_back(pool_is_open(trace, s));
        }
    }

    /// Segments that stayed while others were returned are of one pool. Earlier conclusions are dropped. Returns false
    /// if they are not of one pool.
    bool keep(const std::vector<uint32_t>& segments) {
        std::vector<uint32_t> members;
        std::copy_if(segments.begin(), segments.end(), std::back_inserter(members), [&](uint32_t i) {
            return is_open_[i] && !std::any_of(kept_.begin(), kept_.end(), [&](const auto& other) {
                       return std::find(other.begin(), other.end(), i) != other.end();
                   });
        });
        if (members.empty()) {
            return false;
        }
        kept_.push_back(members);
        const HiddenInputs recorded = recorded_inputs(device_);
        inputs_.pools = recorded.pools;
        inputs_.inferred_pools = 0;
        for (const auto& pool : kept_) {
            std::for_each(pool.begin(), pool.end(), [&](uint32_t i) { inputs_.pools[i] = next_pool(); });
            ++inputs_.inferred_pools;
        }
        return true;
    }

    /// From this event on, what its stream gets from the driver is of a new pool. False if the pool is known.
    bool begin(EventNumber event) {
        const auto came = [&](const Segment& s) { return s.alloc_event >= event; };
        const auto first = std::find_if(device_.segments.begin(), device_.segments.end(), came);
        if (first == device_.segments.end() || first->alloc_event != event) {
            return false;
        }
        const size_t position = static_cast<size_t>(first - device_.segments.begin());
        const uint32_t before = inputs_.pools[position];
        if (!is_open_[position]) {
            return false;
        }
        for (size_t i = position; i < is_open_.size(); ++i) {
            if (is_open_[i] && device_.segments[i].stream == first->stream && inputs_.pools[i] == before) {
                inputs_.pools[i] = next_pool();
            }
        }
        ++inputs_.inferred_pools;
        return true;
    }

private:
    uint32_t next_pool() const { return first_ + static_cast<uint32_t>(inputs_.inferred_pools); }

    const DeviceHistory& device_;
    HiddenInputs& inputs_;
    const uint32_t first_;
    std::vector<bool> is_open_;
    std::vector<std::vector<uint32_t>> kept_;
};

/// The limit of the garbage collector, by halving: somewhere below the size of the device.
class LimitSearch {
public:
    explicit LimitSearch(const DeviceHistory& device) : low_(0), high_(uint64_t{1} << 42) {
        if (device.total_bytes > 0) {
            high_ = static_cast<uint64_t>(device.total_bytes);
        }
    }

    /// The next limit to try; 0: there is none.
    uint64_t next(uint64_t tried, bool is_lower) {
        if (tried != 0) {
            (is_lower ? high_ : low_) = tried;
        }
        return high_ - low_ > 1 ? low_ + (high_ - low_) / 2 : 0;
    }

private:
    uint64_t low_, high_;
};

}  // namespace

HiddenInputs recorded_inputs(const DeviceHistory& device) {
    HiddenInputs inputs;
    for (const Segment& s : device.segments) {
        inputs.pools.push_back(s.pool);
    }
    return inputs;
}

bool has_hidden_inputs(const Trace& trace, const DeviceHistory& device) {
    return AllocatorSettings::from_text(trace.settings).garbage_collection_threshold > 0 ||
           std::any_of(device.segments.begin(), device.segments.end(),
                       [&](const Segment& s) { return pool_is_open(trace, s); });
}

Understanding understand(const Trace& trace, const DeviceHistory& device, Progress& progress) {
    const bool collects = AllocatorSettings::from_text(trace.settings).garbage_collection_threshold > 0;
    Understanding best{recorded_inputs(device), {}};
    HiddenInputs inputs = best.inputs;
    PoolSearch pools(trace, device, inputs);
    LimitSearch limits(device);
    bool has_to_help = false;
    for (int replay = 0; replay < most_replays && !progress.canceled; ++replay) {
        const ReplayResult result = replay_in_model(trace, device, inputs, progress);
        const bool helped = replay == 0 || result.check.exact || result.check.events > best.check.events;
        if (helped) {
            best = {inputs, result.check};
        }
        if (result.check.exact || (has_to_help && !helped)) {
            break;
        }
        has_to_help = false;
        if (collects && (result.limit_is_lower || result.limit_is_higher)) {
            inputs.memory_limit = limits.next(inputs.memory_limit, result.limit_is_lower);
            if (inputs.memory_limit == 0) {
                break;
            }
        } else if (!pools.keep(result.kept_segments)) {
            has_to_help = true;
            if (!result.foreign_memory_at || !pools.begin(*result.foreign_memory_at)) {
                break;
            }
        }
    }
    return best;
}

ModelCheck check_model(const Trace& trace, const DeviceHistory& device, Progress& progress) {
    return understand(trace, device, progress).check;
}

}  // namespace tidemark
