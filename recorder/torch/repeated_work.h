// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which forward passes, backward passes and optimizer steps are observed op by op.
//
// To observe ops is most of what recording costs: a node of a backward pass runs about eight, and PyTorch composes
// names for each of them. Backward passes repeat each other, and so do optimizer steps and what happens between them,
// the forward passes. Only some are observed. In the others, an event gets the op that the event at the same place had
// (learned_ops.h), and so does a node of a forward pass (forward_nodes.h). Nodes that run Python code, which may do
// anything, are always observed. A program that only runs inference ends no step: stretches of it take the place of
// forward passes.
//
// Thread-safe. A lock is held while ops begin or end to be observed, never while GPU memory is allocated.
#pragma once

#include <cstdint>

namespace tidemark::plugin {

/// `forward`: what a step does outside backward passes and optimizer steps.
enum class Work : uint8_t { backward, optimizer, forward };

/// Forgets earlier work, at the begin of a recording.
void begin_repeated_work();

/// Handle the begin and the end of a backward pass or an optimizer step that this thread starts. They nest, and run on
/// several threads.
void work_begins(Work work);
/// Returns whether no work of this kind runs any more.
bool work_ends(Work work);

/// Handles the begin of a step, which ends the one before. `may_repeat`: its forward pass need not be observed, because
/// no memory of the last step stays: the graph that retains such memory may be one that no backward pass finds.
void step_begins(bool may_repeat);

/// Returns whether the program has ended a step in this recording.
bool has_steps();
/// Handles the begin of another stretch of inference, in a program without steps. It creates no graph, so memory
/// may stay. May be called under an allocator lock.
void inference_goes_on();

/// What a thread wishes in the work of this number, which is not observed.
struct Wish {
    uint64_t work = 0;
    bool observes_node = false;
};

/// Returns whether ops that begin now on the thread with this wish are observed.
bool ops_are_observed(const Wish& wish);

/// Observes the node that begins on the thread with this wish, if it `runs_python`, until the next one begins.
void node_begins(bool runs_python, Wish& wish);
/// Observes the rest of the work that runs now, because something was not seen before. May be called under an
/// allocator lock.
void observe_rest_of_work();
/// Observes the next forward pass, because something in this one was not seen before.
void observe_next_forward();

/// Handles an allocation outside backward passes, on the thread with this wish. If several threads allocate, all work
/// is observed: otherwise the ops of one thread would not be observed during the work of another. May be called under
/// an allocator lock.
void allocates_in_forward(const Wish& wish);

}  // namespace tidemark::plugin
