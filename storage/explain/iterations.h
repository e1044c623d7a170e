// The program's repetition: what a finding means by "each round".
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

struct Iteration {
    int64_t number = 0;     ///< as people know it: the step's number, else counted from 0
    EventNumber first = 0;  ///< states of the device: the round's events are [first, last)
    EventNumber last = 0;
    int64_t start = 0, end = 0;  ///< ns since trace start
};

/// Python's garbage collector at work, as the recorder names it.
bool is_garbage_collection(const Annotation& span);

enum class IterationSource : uint8_t {
    none,        ///< nothing repeats
    steps,       ///< told by the program, or seen: the optimizer's steps
    marks,       ///< spans or marks of one name that repeat ("ProfilerStep#3")
    repetition,  ///< derived: the same line allocates again and again
};

/// Immutable. Thread: any.
class Iterations {
public:
    Iterations() = default;
    /// Of the steps if there are at least three; else of repeating marks or spans; else of the line that allocated most
    /// regularly. Long runs keep every round.
    Iterations(const Trace& trace, const DeviceHistory& device);
    /// Derived from what repeats in the states from `first` to `last`.
    Iterations(const Trace& trace, const DeviceHistory& device, EventNumber first, EventNumber last);

    IterationSource source() const { return source_; }
    const std::vector<Iteration>& all() const { return iterations_; }
    size_t size() const { return iterations_.size(); }
    bool empty() const { return iterations_.empty(); }
    const Iteration& operator[](size_t i) const { return iterations_[i]; }
    /// Position of the round this event belongs to; those before the first belong to -1, those after the last to
    /// size().
    int64_t at(EventNumber event) const;
    /// The last round ends with this state.
    void end_at(EventNumber state) { iterations_.back().last = std::max(iterations_.back().first, state); }

private:
    void take_steps(const Trace& trace, const DeviceHistory& device);
    void take_marks(const Trace& trace, const DeviceHistory& device);
    void take_period(const Trace& trace, const DeviceHistory& device, EventNumber from, EventNumber to);
    void add(int64_t number, const DeviceHistory& device, int64_t start, int64_t end);

    IterationSource source_ = IterationSource::none;
    std::vector<Iteration> iterations_;
};

}  // namespace tidemark
