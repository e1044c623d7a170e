// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One axis for two runs: step N of one is at the place of step N of the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// What places on the axis count.
enum class AxisUnit : uint8_t {
    steps,   ///< step numbers: 3.5 is the middle of step 3
    time,    ///< ns since the first event, or since a step begins
    events,  ///< the same for traces without times
};

/// Where the times of a run are on the axis. Immutable. Thread: any.
class RunOnAxis {
public:
    /// A time (ns since trace start) and its place. Between knots, time passes evenly.
    struct Knot {
        double place = 0;
        int64_t time = 0;
    };

    /// Requires at least one knot. Places ascend, times never descend.
    explicit RunOnAxis(std::vector<Knot> knots) : knots_(std::move(knots)) {}

    double first() const { return knots_.front().place; }
    double last() const { return knots_.back().place; }
    int64_t begin() const { return knots_.front().time; }
    int64_t end() const { return knots_.back().time; }
    bool has_place(double place) const { return place >= first() && place <= last(); }
    bool has_time(int64_t time) const { return time >= begin() && time <= end(); }
    /// Returns the time at a place; before the first place and after the last, that of the nearest.
    int64_t time_at(double place) const;
    /// Returns the place of a time; of a time outside the run, the nearest.
    double place_of(int64_t time) const;

private:
    std::vector<Knot> knots_;
};

struct CommonAxis {
    AxisUnit unit = AxisUnit::time;
    RunOnAxis a, b;
};

/// Why two runs share no steps.
enum class SharedSteps : uint8_t { some, none_in_a, none_in_b, none_in_either, other_numbers };

/// Returns whether a step of the same number ended in both.
SharedSteps shared_steps(const Trace& a, const Trace& b);

/// Places two runs by their steps if they share any, else by the time since the first event of the device. What comes
/// before the first step and after the last takes as much room as steps of that duration, but no more than all steps;
/// what comes after the last change of active memory takes nearly none.
/// Returns nothing if only one of the runs has times.
std::optional<CommonAxis> common_axis(const Trace& trace_a, const DeviceHistory& a, const Trace& trace_b,
                                      const DeviceHistory& b);

/// Returns the position in Trace::devices of the device to compare with device `number` of another trace: the one with
/// the same number, or the only one. Returns nothing if the user must select one.
std::optional<size_t> device_to_compare(const Trace& trace, int number);

}  // namespace tidemark
