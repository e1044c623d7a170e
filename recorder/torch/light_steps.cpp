// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/light_steps.h"

#include <atomic>

#include "recorder/torch/allocator_tracker.h"
#include "recorder/torch/detail_level.h"
#include "recorder/torch/graph_recorder.h"

namespace tidemark::plugin {

namespace {

/// Gradients, optimizer state and the caches of libraries are created in the first steps.
constexpr int first_steps = 4;
/// Steps with details that must repeat known ones before light steps.
constexpr int fewest_repeats = 2;
/// Light steps between two comparisons: 2 steps with details in so many cost less than 1 % of what they cost.
constexpr int longest_light = 254;

struct Steps {
    int seen = 0;
    int light = 0;             ///< in a row
    uint64_t nodes_alive = 0;  ///< at the end of the step before
};
Steps steps;
std::atomic<bool> may_be_light{false};

}  // namespace

void begin_steps(bool allowed) {
    steps = {};
    may_be_light.store(allowed, std::memory_order_relaxed);
}

bool steps_may_be_light() { return may_be_light.load(std::memory_order_relaxed); }

void step_ends() {
    if (!steps_may_be_light()) {
        return;
    }
    count_step();
    const uint64_t nodes_before = steps.nodes_alive;
    steps.nodes_alive = live_nodes().alive;
    if (++steps.seen <= first_steps) {
        return;
    }
    if (are_details_paused()) {
        steps.light = 0;
    } else if (!records_details()) {
        if (++steps.light >= longest_light) {
            resume_details();
        }
    } else if (devices_repeat_steps(fewest_repeats) && steps.nodes_alive <= nodes_before) {
        steps.light = 0;
        omit_details();
    }
}

}  // namespace tidemark::plugin
