// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/curves.h"

#include <algorithm>

#include "storage/base/in_halves.h"

namespace tidemark {

namespace {

constexpr EventNumber leaf_states = Curves::bucket_states;
constexpr size_t fan_out = 8;  // buckets per bucket of the next level
constexpr size_t repeats_per_block = 256;
constexpr size_t fewest_leaves_to_halve = fewest_rows_to_halve / leaf_states;

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

/// Updates the values by one event.
void apply(Values& values, const DeviceHistory& device, EventNumber event) {
    const EventRef ref = device.event_ref[static_cast<size_t>(event)];
    const uint32_t i = ref.index();
    const Allocations& a = device.allocations;
    auto& reserved = values[static_cast<size_t>(Series::reserved)];
    switch (ref.action()) {
        case Action::alloc: add_block(values, a, i, 1, true, true); break;
        case Action::free_requested: add_block(values, a, i, -1, true, a.free_completed[i] == event); break;
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

void widen(Extremes& result, const Extremes& other) {
    result.min = std::min(result.min, other.min);
    result.max = std::max(result.max, other.max);
    if (other.max_of_states > result.max_of_states) {
        result.max_of_states = other.max_of_states;
        result.max_event = other.max_event;
    }
}

void add_state(Curves::All& result, const Values& values, EventNumber n) {
    for (size_t s = 0; s < series_count; ++s) {
        widen(result[s], {values[s], values[s], n, values[s]});
    }
}

/// Returns the extremes of the states first..last, of which `values` is the first. Then `values` is the last.
Curves::All extremes_of_bucket(Values& values, const DeviceHistory& device, EventNumber first, EventNumber last) {
    Values low = values, high = values;
    std::array<EventNumber, series_count> highest;
    highest.fill(first);
    for (EventNumber n = first + 1; n <= last; ++n) {
        apply(values, device, n - 1);
        for (size_t s = 0; s < series_count; ++s) {
            low[s] = std::min(low[s], values[s]);
            highest[s] = values[s] > high[s] ? n : highest[s];
            high[s] = std::max(high[s], values[s]);
        }
    }
    Curves::All result;
    for (size_t s = 0; s < series_count; ++s) {
        result[s] = {low[s], high[s], highest[s], high[s]};
    }
    return result;
}

Curves::All nothing_seen() {
    Curves::All all;
    all.fill({INT64_MAX, INT64_MIN, 0, INT64_MIN});
    return all;
}

/// Fills the smallest buckets, and the values in their first states, on two threads. Requires their final size.
void fill_leaves(const DeviceHistory& device, std::vector<Values>& base, std::vector<Curves::All>& leaves) {
    const EventNumber end = device.event_count();
    // The second half begins with zeros, while the values in which the first one ends are not known yet.
    const size_t middle = leaves.size() / 2;
    Values before_second_half{};
    in_halves(
        leaves.size(),
        [&](size_t first, size_t last) {
            Values values = first == 0 ? start_values(device) : Values{};
            for (size_t leaf = first; leaf < last; ++leaf) {
                const auto from = static_cast<EventNumber>(leaf) * leaf_states;
                const EventNumber next = std::min(from + leaf_states, end + 1);
                base[leaf] = values;
                leaves[leaf] = extremes_of_bucket(values, device, from, next - 1);
                if (next <= end) {
                    apply(values, device, next - 1);
                }
            }
            if (last == middle) {
                before_second_half = values;
            }
        },
        fewest_leaves_to_halve);
    if (leaves.size() < fewest_leaves_to_halve) {
        return;
    }
    for (size_t leaf = middle; leaf < leaves.size(); ++leaf) {
        for (size_t s = 0; s < series_count; ++s) {
            const int64_t bytes = before_second_half[s];
            Extremes& extremes = leaves[leaf][s];
            base[leaf][s] += bytes;
            extremes.min += bytes;
            extremes.max += bytes;
            extremes.max_of_states += bytes;
        }
    }
}

/// Returns the highest bytes of repeated steps by series. The reserved bytes do not change within them.
Values peaks_of(const RepeatedSteps& steps) {
    Values peaks{};
    peaks[static_cast<size_t>(Series::allocated)] = steps.peak_allocated;
    peaks[static_cast<size_t>(Series::active)] = steps.peak_active;
    peaks[static_cast<size_t>(Series::requested)] = steps.peak_requested;
    return peaks;
}

}  // namespace

void Curves::add(All& result, const All& bucket) {
    for (size_t s = 0; s < series_count; ++s) {
        widen(result[s], bucket[s]);
    }
}

Curves::Curves(const DeviceHistory& device) : device_(device) {
    index_repeats();
    auto& leaves = levels_.emplace_back(static_cast<size_t>(device.event_count() / leaf_states + 1));
    base_.resize(leaves.size());
    fill_leaves(device, base_, leaves);
    while (levels_.back().size() > 1) {
        const auto& below = levels_.back();
        std::vector<All> level;
        for (size_t i = 0; i < below.size(); ++i) {
            if (i % fan_out == 0) {
                level.push_back(below[i]);
            } else {
                add(level.back(), below[i]);
            }
        }
        levels_.push_back(std::move(level));
    }
}

/// Repeated steps lie between the events of two states. Those in the last state belong to what follows, unless nothing
/// does.
void Curves::add_repeats(All& result, EventNumber first, EventNumber last) const {
    const auto& repeats = device_.repeats;
    const EventNumber end = last == first || last == device_.event_count() ? last + 1 : last;
    const auto at = [&](EventNumber state) {
        return static_cast<size_t>(std::partition_point(repeats.begin(), repeats.end(),
                                                        [&](const RepeatedSteps& r) { return r.event < state; }) -
                                   repeats.begin());
    };
    const size_t stop = at(end);
    for (size_t i = at(first); i < stop;) {
        const bool is_block = i % repeats_per_block == 0 && i + repeats_per_block <= stop;
        const Values peaks = is_block ? repeat_peaks_[i / repeats_per_block] : peaks_of(repeats[i]);
        for (size_t s = 0; s < series_count; ++s) {
            result[s].max = std::max(result[s].max, peaks[s]);
        }
        i += is_block ? repeats_per_block : 1;
    }
}

void Curves::index_repeats() {
    for (size_t i = 0; i < device_.repeats.size(); ++i) {
        if (i % repeats_per_block == 0) {
            repeat_peaks_.emplace_back();
        }
        const Values peaks = peaks_of(device_.repeats[i]);
        for (size_t s = 0; s < series_count; ++s) {
            repeat_peaks_.back()[s] = std::max(repeat_peaks_.back()[s], peaks[s]);
        }
    }
}

void Curves::walk(All& result, EventNumber first, EventNumber last) const {
    const EventNumber leaf = first / leaf_states;
    Values values = base_[static_cast<size_t>(leaf)];
    for (EventNumber n = leaf * leaf_states; n <= last; ++n) {
        if (n % leaf_states != 0) {
            apply(values, device_, n - 1);
        }
        if (n >= first) {
            add_state(result, values, n);
        }
    }
}

Curves::All Curves::extremes(EventNumber first, EventNumber last) const {
    first = std::clamp(first, 0, device_.event_count());
    last = std::clamp(last, first, device_.event_count());
    All result = extremes_of_states(first, last);
    add_repeats(result, first, last);
    return result;
}

Curves::All Curves::extremes_of_states(EventNumber first, EventNumber last) const {
    const EventNumber end = device_.event_count();
    All result = nothing_seen();
    const EventNumber first_leaf = first / leaf_states, last_leaf = last / leaf_states;
    if (first_leaf == last_leaf) {
        walk(result, first, last);
        return result;
    }
    // Single states at both ends are visited; the largest buckets that fit cover the rest.
    size_t low = static_cast<size_t>(first_leaf);
    if (first % leaf_states != 0) {
        walk(result, first, (first_leaf + 1) * leaf_states - 1);
        ++low;
    }
    const bool whole_last = last % leaf_states == leaf_states - 1 || last == end;
    const size_t stop = static_cast<size_t>(last_leaf) + (whole_last ? 1 : 0);
    while (low < stop) {
        size_t level = 0, at = low, span = 1;
        while (level + 1 < levels_.size() && at % fan_out == 0 && low + span * fan_out <= stop) {
            at /= fan_out;
            span *= fan_out;
            ++level;
        }
        add(result, levels_[level][at]);
        low += span;
    }
    if (!whole_last) {
        walk(result, last_leaf * leaf_states, last);
    }
    return result;
}

std::vector<EventNumber> peak_events(const Trace& trace) {
    std::vector<EventNumber> peaks;
    for (const DeviceHistory& device : trace.devices) {
        peaks.push_back(Curves(device).peak(Series::allocated).max_event);
    }
    return peaks;
}

}  // namespace tidemark
