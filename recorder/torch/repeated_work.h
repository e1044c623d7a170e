// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which backward passes and optimizer steps are observed op by op.
//
// To observe ops is most of what recording costs: a node of a backward pass runs about eight, and PyTorch composes
// names for each of them. Backward passes repeat each other, and so do optimizer steps. Only some are observed. In the
// others, an event gets the op that the event at the same place had (learned_ops.h). Nodes that run Python code, which
// may do anything, are always observed.
//
// Thread-safe. A lock is held while ops begin or end to be observed, never while GPU memory is allocated.
#pragma once

#include <cstdint>

namespace tidemark::plugin {

enum class Work : uint8_t { backward, optimizer };

/// Forgets earlier work, at the begin of a recording.
void begin_repeated_work();

/// Handle the begin and the end of a backward pass or an optimizer step that this thread starts. They nest, and run on
/// several threads.
void work_begins(Work work);
/// Returns whether no work of this kind runs any more.
bool work_ends(Work work);

/// Returns whether ops that begin now on this thread are observed.
bool ops_are_observed();

/// Observes the node that begins on this thread, if it `runs_python`, until the next one begins.
void node_begins(bool runs_python);
/// Observes the rest of the work that runs now, because something was not seen before. May be called under an
/// allocator lock.
void observe_rest_of_work();

/// Handles an allocation outside backward passes. If several threads allocate, all work is observed: otherwise the ops
/// of one thread would not be observed during the work of another. May be called under an allocator lock.
void allocates_in_forward();

}  // namespace tidemark::plugin
