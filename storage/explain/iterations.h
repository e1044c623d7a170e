// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The program's iterations: the unit of "per iteration" in findings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/timeline/curves.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct Iteration {
    int64_t number = 0;     ///< the step's number, otherwise counted from 0
    EventNumber first = 0;  ///< states of the device: the iteration's events are [first, last)
    EventNumber last = 0;
    int64_t start = 0, end = 0;  ///< ns since trace start
};

enum class IterationSource : uint8_t {
    none,   ///< nothing repeats
    steps,  ///< training steps: reported by the program, or detected from the optimizer
    marks,  ///< spans or marks of one name that repeat ("ProfilerStep#3")
    loop,   ///< the main loop of the Python code, found from stacks
};

/// Immutable. Thread: any.
class Iterations {
public:
    Iterations() = default;
    /// Uses the training steps if there are at least three; otherwise repeating marks or spans; otherwise the main
    /// loop. Keeps all iterations, also in long runs. Omits those that began before the trace: a snapshot names spans
    /// whose events its ring buffer has lost.
    Iterations(const Trace& trace, const DeviceHistory& device, const Curves& curves);
    /// Uses the main loop between the states `first` and `last`.
    Iterations(const Trace& trace, const DeviceHistory& device, const Curves& curves, EventNumber first,
               EventNumber last);

    IterationSource source() const { return source_; }
    const std::vector<Iteration>& all() const { return iterations_; }
    size_t size() const { return iterations_.size(); }
    bool empty() const { return iterations_.empty(); }
    const Iteration& operator[](size_t i) const { return iterations_[i]; }
    /// Returns the position of the iteration that contains the event; -1 before the first, size() after the last.
    int64_t at(EventNumber event) const;
    /// Returns the positions of the iterations that have events. Of training steps that repeat an earlier one, an
    /// adaptive recording has none.
    std::vector<size_t> with_events() const;
    /// Returns the states in which the iterations begin, ascending.
    std::vector<EventNumber> begins() const;
    /// Returns the mean duration of an iteration in seconds; at least 1 ns. Requires iterations.
    double mean_seconds() const;
    /// Drops the iterations that are not within these states.
    void keep_within(EventNumber first, EventNumber last);
    /// Ends the last iteration at this state if it would end later.
    void end_at(EventNumber state) {
        Iteration& last = iterations_.back();
        last.last = std::max(last.first, std::min(last.last, state));
    }

private:
    void use_steps(const Trace& trace, const DeviceHistory& device);
    void use_marks(const Trace& trace, const DeviceHistory& device);
    void use_loop(const Trace& trace, const DeviceHistory& device, const Curves& curves, EventNumber from,
                  EventNumber to);
    void add(int64_t number, const DeviceHistory& device, int64_t start, int64_t end);

    IterationSource source_ = IterationSource::none;
    std::vector<Iteration> iterations_;
};

}  // namespace tidemark
