// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/step_collector.h"

#include <algorithm>
#include <utility>

#include "recorder/core/mixed_hash.h"

namespace tidemark::recorder {

namespace {

/// The first steps are always written: caches fill in them, and explanations compare them with later ones.
constexpr int64_t first_steps = 20;
/// Steps of different kinds may alternate: accumulation, logging, lengths of a few buckets.
constexpr size_t most_known_steps = 16;
/// Limits of what waits for the end of a step: readers follow the trace, and other rows refer to the events. Those of a
/// step that repeats a known one so far are few, and are worth more patience: large models take many seconds for a
/// step.
constexpr size_t most_events = 1 << 16;
constexpr auto longest_wait = std::chrono::seconds(2), longest_wait_of_repeat = std::chrono::seconds(60);
constexpr size_t events_between_prefixes = 16;

bool can_be_left_out(Action action) {
    return action == Action::alloc || action == Action::free_requested || action == Action::free_completed;
}

}  // namespace

bool StepCollector::add(const AllocatorEvent& event) {
    if (events_.empty()) {
        since_ = Clock::now();
    }
    events_.push_back(event);
    step_.is_whole &= can_be_left_out(event.action);
    // The completion of a free has neither a size nor a stack of its own.
    const bool is_completion = event.action == Action::free_completed;
    step_.hash = mixed(step_.hash, static_cast<uint64_t>(event.action) << 32 | event.stream);
    step_.hash = mixed(step_.hash, is_completion ? 0 : event.size);
    step_.hash = mixed(step_.hash, is_completion ? 0 : uint64_t{event.stack} << 32 | event.origin);
    if (++step_.events % events_between_prefixes == 0) {
        prefixes_.push_back(step_.hash);
    }
    return events_.size() < most_events;
}

bool StepCollector::is_overdue(Clock::time_point now) const {
    return !events_.empty() && now - since_ > longest_wait &&
           (!is_like_known() || now - since_ > longest_wait_of_repeat);
}

/// Returns whether the step may still turn out to repeat a known one, and would be left out.
bool StepCollector::is_like_known() const {
    const auto begins_like_this = [&](const KnownStep& known) {
        return prefixes_.empty() ||
               (known.prefixes.size() >= prefixes_.size() && known.prefixes[prefixes_.size() - 1] == prefixes_.back());
    };
    return step_.is_whole && steps_ >= first_steps && std::any_of(known_.begin(), known_.end(), begins_like_this);
}

std::optional<int64_t> StepCollector::end_step(int64_t time) {
    const Signature step = std::exchange(step_, {});
    std::vector<uint64_t> prefixes = std::exchange(prefixes_, {});
    is_collecting_ = true;
    ++steps_;
    if (!step.is_whole) {
        return std::nullopt;
    }
    const auto known = std::find_if(known_.begin(), known_.end(), [&](const KnownStep& k) {
        return k.signature.hash == step.hash && k.signature.events == step.events;
    });
    if (known != known_.end() && steps_ > first_steps) {
        std::rotate(known_.begin(), known, known + 1);
        return known_.front().end;
    }
    if (known != known_.end()) {
        known_.erase(known);
    }
    known_.push_front({step, std::move(prefixes), time});
    if (known_.size() > most_known_steps) {
        known_.pop_back();
    }
    return std::nullopt;
}

std::vector<AllocatorEvent> StepCollector::take() {
    if (step_.events > 0) {
        step_.is_whole = is_collecting_ = false;
    }
    return std::exchange(events_, {});
}

}  // namespace tidemark::recorder
