#include "storage/timeline/curves.h"

#include <algorithm>

namespace tidemark {

namespace {

constexpr EventNumber leaf_states = 64;  // states per bucket of level 0
constexpr size_t fan_out = 8;            // buckets per bucket of the next level

using Values = std::array<int64_t, series_count>;

void add_block(Values& values, const Allocations& a, uint32_t i, int64_t sign, bool allocated, bool active) {
    const int64_t bytes = sign * static_cast<int64_t>(a.block_size[i]);
    if (allocated) {
        values[static_cast<size_t>(Series::allocated)] += bytes;
    }
    if (active) {
        values[static_cast<size_t>(Series::active)] += bytes;
        values[static_cast<size_t>(Series::requested)] += sign * static_cast<int64_t>(a.requested[i]);
    }
}

Values start_values(const DeviceHistory& device) {
    Values values{};
    const Allocations& a = device.allocations;
    for (uint32_t i = 0; i < a.size() && a.alloc_event[i] == before_history; ++i) {
        add_block(values, a, i, 1, a.free_event[i] != before_history, true);
    }
    for (const Segment& s : device.segments) {
        if (s.alloc_event != before_history) {
            break;
        }
        values[static_cast<size_t>(Series::reserved)] += static_cast<int64_t>(s.size);
    }
    return values;
}

/// Moves the values over one event.
void apply(Values& values, const DeviceHistory& device, EventNumber event) {
    const EventRef ref = device.event_ref[static_cast<size_t>(event)];
    const uint32_t i = ref.index();
    const Allocations& a = device.allocations;
    auto& reserved = values[static_cast<size_t>(Series::reserved)];
    switch (ref.action()) {
        case Action::alloc: add_block(values, a, i, 1, true, true); break;
        case Action::free_requested: add_block(values, a, i, -1, true, a.done_event[i] == event); break;
        case Action::free_completed: add_block(values, a, i, -1, a.free_event[i] == event, true); break;
        case Action::segment_alloc:
        case Action::segment_map:
            for (uint32_t k = i; k < device.segments.size() && device.segments[k].alloc_event == event; ++k) {
                reserved += static_cast<int64_t>(device.segments[k].size);
            }
            break;
        case Action::segment_free:
        case Action::segment_unmap:
            if (!device.segments[i].is_expandable) {
                reserved -= static_cast<int64_t>(device.segments[i].size);
                break;
            }
            for (const Segment& s : device.segments) {
                reserved -= s.free_event == event ? static_cast<int64_t>(s.size) : 0;
            }
            break;
        default: break;
    }
}

}  // namespace

Curves::Curves(const DeviceHistory& device) : device_(device) {
    const EventNumber states = device.event_count() + 1;
    const size_t buckets = static_cast<size_t>((states + leaf_states - 1) / leaf_states);
    for (size_t s = 0; s < series_count; ++s) {
        base_[s].reserve(buckets);
        levels_[s].emplace_back().reserve(buckets);
    }
    Values values = start_values(device);
    for (EventNumber n = 0; n < states; ++n) {
        if (n > 0) {
            apply(values, device, n - 1);
        }
        for (size_t s = 0; s < series_count; ++s) {
            auto& leaves = levels_[s][0];
            if (n % leaf_states == 0) {
                base_[s].push_back(values[s]);
                leaves.push_back({values[s], values[s], n});
                continue;
            }
            Bucket& leaf = leaves.back();
            leaf.min = std::min(leaf.min, values[s]);
            if (values[s] > leaf.max) {
                leaf.max = values[s];
                leaf.max_event = n;
            }
        }
    }
    for (auto& levels : levels_) {
        while (levels.back().size() > 1) {
            const auto& below = levels.back();
            std::vector<Bucket> level;
            for (size_t i = 0; i < below.size(); i += fan_out) {
                Bucket bucket = below[i];
                for (size_t k = i + 1; k < std::min(i + fan_out, below.size()); ++k) {
                    bucket.min = std::min(bucket.min, below[k].min);
                    if (below[k].max > bucket.max) {
                        bucket.max = below[k].max;
                        bucket.max_event = below[k].max_event;
                    }
                }
                level.push_back(bucket);
            }
            levels.push_back(std::move(level));
        }
    }
}

int64_t Curves::value(Series series, EventNumber n) const {
    return extremes(series, n, n).max;
}

Extremes Curves::extremes(Series series, EventNumber first, EventNumber last) const {
    const EventNumber end = device_.event_count();
    first = std::clamp(first, 0, end);
    last = std::clamp(last, first, end);
    const size_t s = static_cast<size_t>(series);
    Extremes result{INT64_MAX, INT64_MIN, first};
    const auto add = [&](int64_t min, int64_t max, EventNumber max_event) {
        result.min = std::min(result.min, min);
        if (max > result.max) {
            result.max = max;
            result.max_event = max_event;
        }
    };
    // Single states at the ragged ends are walked; everything between comes from the largest buckets that fit.
    const auto walk = [&](EventNumber from, EventNumber to) {
        const size_t leaf = static_cast<size_t>(from / leaf_states);
        Values values{};
        for (size_t k = 0; k < series_count; ++k) {
            values[k] = base_[k][leaf];
        }
        for (EventNumber n = from / leaf_states * leaf_states; n <= to; ++n) {
            if (n % leaf_states != 0) {
                apply(values, device_, n - 1);
            }
            if (n >= from) {
                add(values[s], values[s], n);
            }
        }
    };
    size_t low = static_cast<size_t>(first / leaf_states), high = static_cast<size_t>(last / leaf_states);
    if (low == high) {
        walk(first, last);
        return result;
    }
    if (first % leaf_states != 0) {
        walk(first, static_cast<EventNumber>(low + 1) * leaf_states - 1);
        ++low;
    }
    const bool whole_last = last % leaf_states == leaf_states - 1 || last == end;
    const size_t stop = whole_last ? high + 1 : high;
    while (low < stop) {
        size_t level = 0, at = low, span = 1;
        while (level + 1 < levels_[s].size() && at % fan_out == 0 && low + span * fan_out <= stop) {
            at /= fan_out;
            span *= fan_out;
            ++level;
        }
        const Bucket& bucket = levels_[s][level][at];
        add(bucket.min, bucket.max, bucket.max_event);
        low += span;
    }
    if (!whole_last) {
        walk(static_cast<EventNumber>(high) * leaf_states, last);
    }
    return result;
}

Extremes Curves::peak(Series series) const { return extremes(series, 0, device_.event_count()); }

}  // namespace tidemark
