// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/hidden_inputs.h"

#include <algorithm>

#include "storage/allocator/rules.h"
#include "storage/whatif/model_replay.h"

namespace tidemark {

namespace {

constexpr int most_replays = 200;

/// Returns whether the segment's pool is unknown. Older snapshots contain pools only in the final state; if that is
/// empty, all segments were assigned to the default pool.
bool is_pool_unknown(const Trace& trace, const Segment& segment) {
    return !segment.pool_known || (trace.processes.empty() && trace.pools.size() <= 1);
}

/// Infers missing pools.
class PoolSearch {
public:
    PoolSearch(const Trace& trace, const DeviceHistory& device, HiddenInputs& inputs)
        : device_(device), inputs_(inputs), first_(static_cast<uint32_t>(trace.pools.size())) {
        for (const Segment& s : device.segments) {
            is_unknown_.push_back(is_pool_unknown(trace, s));
        }
    }

    /// Segments that stayed while others were returned belong to one pool. Drops earlier conclusions. Returns false if
    /// they cannot belong to one pool.
    bool infer_from_stayed(const std::vector<uint32_t>& segments) {
        std::vector<uint32_t> members;
        std::copy_if(segments.begin(), segments.end(), std::back_inserter(members), [&](uint32_t i) {
            return is_unknown_[i] &&
                   !std::any_of(inferred_pools_.begin(), inferred_pools_.end(), [&](const auto& other) {
                       return std::find(other.begin(), other.end(), i) != other.end();
                   });
        });
        if (members.empty()) {
            return false;
        }
        inferred_pools_.push_back(members);
        const HiddenInputs recorded = recorded_inputs(device_);
        inputs_.pools = recorded.pools;
        inputs_.inferred_pools = 0;
        for (const auto& pool : inferred_pools_) {
            std::for_each(pool.begin(), pool.end(), [&](uint32_t i) { inputs_.pools[i] = next_pool(); });
            ++inputs_.inferred_pools;
        }
        return true;
    }

    /// Assigns driver memory of the event's stream from this event on to a new pool. Returns false if the pool is
    /// known.
    bool infer_from_arrival(EventNumber event) {
        const auto is_later = [&](const Segment& s) { return s.alloc_event >= event; };
        const auto first = std::find_if(device_.segments.begin(), device_.segments.end(), is_later);
        if (first == device_.segments.end() || first->alloc_event != event) {
            return false;
        }
        const size_t position = static_cast<size_t>(first - device_.segments.begin());
        const uint32_t before = inputs_.pools[position];
        if (!is_unknown_[position]) {
            return false;
        }
        for (size_t i = position; i < is_unknown_.size(); ++i) {
            if (is_unknown_[i] && device_.segments[i].stream == first->stream && inputs_.pools[i] == before) {
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
    std::vector<bool> is_unknown_;
    std::vector<std::vector<uint32_t>> inferred_pools_;
};

/// Finds the limit of the garbage collector by bisection, below the size of the device.
class LimitSearch {
public:
    explicit LimitSearch(const DeviceHistory& device) : low_(0), high_(uint64_t{1} << 42) {
        if (device.total_bytes > 0) {
            high_ = static_cast<uint64_t>(device.total_bytes);
        }
    }

    /// Returns the next limit to try; 0 if there is none.
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
                       [&](const Segment& s) { return is_pool_unknown(trace, s); });
}

InferredInputs infer_inputs(const Trace& trace, const DeviceHistory& device, Progress& progress) {
    const bool collects = AllocatorSettings::from_text(trace.settings).garbage_collection_threshold > 0;
    InferredInputs best{recorded_inputs(device), {}};
    HiddenInputs inputs = best.inputs;
    PoolSearch pools(trace, device, inputs);
    LimitSearch limits(device);
    bool must_improve = false;
    for (int replay = 0; replay < most_replays && !progress.canceled; ++replay) {
        const ReplayResult result = replay_in_model(trace, device, inputs, progress);
        const bool improved = replay == 0 || result.check.exact || result.check.events > best.check.events;
        if (improved) {
            best = {inputs, result.check};
        }
        if (result.check.exact || (must_improve && !improved)) {
            break;
        }
        must_improve = false;
        if (collects && (result.limit_is_lower || result.limit_is_higher)) {
            inputs.memory_limit = limits.next(inputs.memory_limit, result.limit_is_lower);
            if (inputs.memory_limit == 0) {
                break;
            }
        } else if (!pools.infer_from_stayed(result.kept_segments)) {
            must_improve = true;
            if (!result.unneeded_arrival_at || !pools.infer_from_arrival(*result.unneeded_arrival_at)) {
                break;
            }
        }
    }
    return best;
}

ModelCheck check_model(const Trace& trace, const DeviceHistory& device, Progress& progress) {
    return infer_inputs(trace, device, progress).check;
}

}  // namespace tidemark
