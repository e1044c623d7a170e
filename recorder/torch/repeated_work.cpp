// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/repeated_work.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "recorder/torch/op_observer.h"

namespace tidemark::plugin {

namespace {

/// Gradients, optimizer state, workspaces and caches of libraries are created at first.
constexpr uint64_t first_observed = 3;
constexpr uint64_t observed_every = 64;
/// A stretch of inference has many passes, in which what was new occurs again.
constexpr uint64_t most_stretches_after_new = 4;

/// Forward passes, backward passes, or optimizer steps.
struct Repeated {
    uint64_t count = 0;  ///< that have begun
    uint64_t observed_until = first_observed;
    uint64_t observed_after_new = 1;  ///< so many are observed after one that did something new
    int depth = 0;                    ///< that run now: nested ones, and those of other threads
    bool is_skipped = false;          ///< the one that runs now is not observed

    void begin(bool may_skip) {
        if (depth++ == 0) {
            ++count;
            is_skipped = may_skip && count > observed_until && count % observed_every != 0;
        }
    }

    /// Returns whether none runs any more.
    bool end() {
        if (depth == 0 || --depth > 0) {
            return false;
        }
        observed_after_new = is_skipped ? 1 : observed_after_new;
        is_skipped = false;
        return true;
    }

    void observe_rest() {
        if (is_skipped) {
            observe_next();
            is_skipped = false;
        }
    }

    void observe_next() {
        observed_after_new = std::min(2 * observed_after_new, observed_every);
        observed_until = count + observed_after_new;
    }
};

// PyTorch calls plain functions without a context, so this state belongs to the process.
std::mutex mutex;
std::array<Repeated, 2> inner_work;  ///< that interrupts a forward pass
Repeated forward;
bool is_inner = false;             ///< such work runs now
int nodes_to_observe = 0;          ///< that run now
std::atomic<uint64_t> skipped{0};  ///< number of the work that is not observed now; 0: it is
uint64_t last_skipped = 0;
std::atomic<const Wish*> forward_thread{nullptr};  ///< that of its wish
std::atomic<bool> steps_end{false};                ///< in this recording
std::atomic<bool> several_threads{false};          ///< have allocated in forward since the last work
bool several_in_step = false;                      ///< in this one, before the last work

Repeated& repeated(Work work) { return work == Work::forward ? forward : inner_work[static_cast<size_t>(work)]; }

/// Returns whether the work that runs now is not observed. Requires the lock.
bool skips_now() {
    const auto is_skipped = [](const Repeated& each) { return each.is_skipped; };
    return is_inner ? std::any_of(inner_work.begin(), inner_work.end(), is_skipped) : forward.is_skipped;
}

/// Observes ops or not, as the work that runs now needs. Requires the lock.
void follow() {
    const bool was_inner = is_inner;
    is_inner = std::any_of(inner_work.begin(), inner_work.end(), [](const Repeated& each) { return each.depth > 0; });
    const bool skips = skips_now();
    if (skips != (skipped.load(std::memory_order_relaxed) != 0) || is_inner != was_inner) {
        nodes_to_observe = 0;
        skipped.store(skips ? ++last_skipped : 0, std::memory_order_relaxed);
    }
    suspend_ops(skips && nodes_to_observe == 0);
}

}  // namespace

void begin_repeated_work() {
    const std::lock_guard lock(mutex);
    inner_work = {};
    forward = {};
    forward_thread.store(nullptr, std::memory_order_relaxed);
    steps_end.store(false, std::memory_order_relaxed);
    several_threads.store(false, std::memory_order_relaxed);
    several_in_step = false;
    follow();
}

void work_begins(Work work) {
    const std::lock_guard lock(mutex);
    const bool several = several_threads.exchange(false, std::memory_order_relaxed);
    several_in_step |= several;
    repeated(work).begin(!several);
    follow();
}

bool work_ends(Work work) {
    const std::lock_guard lock(mutex);
    const bool is_last = repeated(work).end();
    follow();
    return is_last;
}

void step_begins(bool may_repeat) {
    const std::lock_guard lock(mutex);
    const bool several = std::exchange(several_in_step, false) || several_threads.load(std::memory_order_relaxed);
    if (!steps_end.exchange(true, std::memory_order_relaxed)) {
        forward = {};  // stretches of inference before the first step say nothing of its forward pass
    }
    forward.end();
    forward.begin(may_repeat && !several);
    follow();
}

bool has_steps() { return steps_end.load(std::memory_order_relaxed); }

void inference_goes_on() {
    const std::lock_guard lock(mutex);
    if (!has_steps()) {
        const bool several = several_threads.exchange(false, std::memory_order_relaxed);
        forward.end();
        forward.observed_after_new = std::min(forward.observed_after_new, most_stretches_after_new);
        forward.begin(!several);
        follow();
    }
}

bool ops_are_observed(const Wish& wish) {
    const uint64_t work = skipped.load(std::memory_order_relaxed);
    return work == 0 || (wish.work == work && wish.observes_node);
}

void node_begins(bool runs_python, Wish& wish) {
    const uint64_t work = skipped.load(std::memory_order_relaxed);
    if (work == 0 || runs_python == (wish.work == work && wish.observes_node)) {
        return;
    }
    const std::lock_guard lock(mutex);
    if (skipped.load(std::memory_order_relaxed) == work) {
        wish = {work, runs_python};
        nodes_to_observe += runs_python ? 1 : -1;
        follow();
    }
}

void observe_rest_of_work() {
    if (skipped.load(std::memory_order_relaxed) != 0) {
        const std::lock_guard lock(mutex);
        if (is_inner) {
            std::for_each(inner_work.begin(), inner_work.end(), [](Repeated& each) { each.observe_rest(); });
        } else {
            forward.observe_rest();
        }
        follow();
    }
}

void observe_next_forward() {
    const std::lock_guard lock(mutex);
    if (forward.is_skipped) {
        forward.observe_next();
    }
}

void allocates_in_forward(const Wish& wish) {
    if (forward_thread.load(std::memory_order_relaxed) != &wish &&
        forward_thread.exchange(&wish, std::memory_order_relaxed) != nullptr) {
        several_threads.store(true, std::memory_order_relaxed);
    }
}

}  // namespace tidemark::plugin
