// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/step_patterns.h"

#include <algorithm>

namespace tidemark::plugin {

namespace {

/// Steps of different kinds alternate: accumulation, logging, a smaller last batch.
constexpr size_t most_known_steps = 8;
/// Limit of the memory that steps take: 32 bytes an event.
constexpr size_t most_events = 1 << 16;
/// A step that retains more is worth all details, above all the graph.
constexpr int64_t most_bytes_left = 64 << 10;

}  // namespace

void StepPatterns::add(const EventShape& shape, const EventOrigin& origin) {
    if (is_as_expected_) {
        take_expected_part();
    }
    rest_ = {};
    prefix_ = recorder::mixed(prefix_, hash_of(shape));
    change_ += shape.change;
    if (++position_ > most_events) {
        is_unlike_ = true;
    }
    if (!is_unlike_) {
        step_.prefixes.push_back(prefix_);
        step_.origins.push_back(origin);
    }
}

/// Expects a known step that begins like this one and goes on with the event of this prefix. Returns false if there is
/// none.
bool StepPatterns::expect_another(uint64_t prefix) {
    if (is_unlike_ || (!is_as_expected_ && position_ > 0)) {
        return false;
    }
    const size_t found = find_beginning(prefix);
    if (found == none) {
        return false;
    }
    set_expected(found);
    return true;
}

/// Requires a step that begins like this one.
void StepPatterns::set_expected(size_t step) {
    expected_ = step;
    rest_ = {};
    if (step != none) {
        const Step& known = known_[step];
        rest_ = {known.prefixes.data() + position_, known.prefixes.data() + known.prefixes.size(),
                 known.origins.data() + position_};
    }
}

bool StepPatterns::end_step() {
    ++steps_;
    if (is_unlike_ || change_ > most_bytes_left) {
        begin_step_after(none);
        repeats_ = 0;
        return false;
    }
    const size_t like = find_whole();
    // Events that were expected have the origins of the known step.
    const bool repeats = like != none && (is_as_expected_ || has_origins_of(known_[like]));
    repeats_ = repeats ? repeats_ + 1 : 0;
    if (like != none && !repeats) {
        known_[like].origins = step_.origins;
    }
    if (like == none && is_as_expected_) {
        take_expected_part();
    }
    begin_step_after(like == none ? store() : like);
    return repeats;
}

/// Returns a known step that begins like this one and goes on with the event of this prefix.
size_t StepPatterns::find_beginning(uint64_t prefix) const {
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Step& step) { return step.has(position_, prefix); });
    return found == known_.end() ? none : static_cast<size_t>(found - known_.begin());
}

/// Returns the known step with the same events.
size_t StepPatterns::find_whole() const {
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const Step& step) {
        return step.prefixes.size() == position_ && (position_ == 0 || step.prefixes.back() == prefix_);
    });
    return found == known_.end() ? none : static_cast<size_t>(found - known_.begin());
}

bool StepPatterns::has_origins_of(const Step& known) const {
    return std::equal(known.origins.begin(), known.origins.end(), step_.origins.begin(), step_.origins.end(),
                      [](const EventOrigin& a, const EventOrigin& b) { return a.is_like(b); });
}

/// The step was like a known one up to here: what they have in common becomes part of it.
void StepPatterns::take_expected_part() {
    const Step& known = known_[expected_];
    const auto end = static_cast<std::ptrdiff_t>(position_);
    step_.prefixes.assign(known.prefixes.begin(), known.prefixes.begin() + end);
    step_.origins.assign(known.origins.begin(), known.origins.begin() + end);
    is_as_expected_ = false;
}

/// Stores this step, at the end in place of the one that was not repeated for the longest time.
size_t StepPatterns::store() {
    if (known_.size() < most_known_steps) {
        known_.push_back(step_);
        return known_.size() - 1;
    }
    const auto oldest = std::min_element(known_.begin(), known_.end(),
                                         [](const Step& a, const Step& b) { return a.last_use < b.last_use; });
    *oldest = step_;
    return static_cast<size_t>(oldest - known_.begin());
}

void StepPatterns::begin_step_after(size_t step) {
    if (last_ != none) {
        known_[last_].next = step;
    }
    last_ = step;
    step_.prefixes.clear();
    step_.origins.clear();
    is_as_expected_ = is_unlike_ = false;
    position_ = 0;
    prefix_ = 0;
    change_ = 0;
    size_t next = none;
    if (step != none) {
        known_[step].last_use = steps_;
        next = known_[step].next;
    }
    set_expected(next);
}

}  // namespace tidemark::plugin
