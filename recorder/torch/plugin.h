// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* C ABI of the plugin inside PyTorch, called by the Python package.
 *
 * The package builds it from these sources on first use, per torch version, against torch's own headers. It links c10,
 * c10_cuda and torch_cpu, never Python. It uses no iostreams: if the compiler links a C++ runtime of its own, that
 * runtime's locales are not the program's. Once attached it stays loaded: PyTorch cannot detach a tracker.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recorder/core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_PLUGIN_VERSION 2u

uint32_t tidemark_plugin_version(void);

enum tidemark_plugin_parts {
    TIDEMARK_PLUGIN_ALLOCATOR = 1, /* requires that CUDA is initialized: only then does the allocator exist */
    TIDEMARK_PLUGIN_OPS = 2,       /* ops, executed nodes, named ranges */
    TIDEMARK_PLUGIN_GRAPH = 4      /* the autograd graph and the categories of memory; needs ops */
};

/* Starts to record `parts` and sends the state of every device at the start. May be called again for the next
 * recording, or for more parts. Returns 1, or 0 with a sentence in `error`. */
int tidemark_plugin_attach(const struct tidemark_api* api, int parts, char* error, size_t error_size);

/* Stops recording. */
void tidemark_plugin_detach(void);

/* Sends the allocator's own view of its blocks, which the recorder compares with its own. Returns 0 without doing so
 * while the program records PyTorch's memory history itself: the snapshot would appear in that history. */
int tidemark_plugin_check(void);

/* Stores the number of events so far of devices 0 .. count-1. Returns the number of devices. */
int tidemark_plugin_sequences(uint64_t* sequences, int count);

/* Sets the phase of the whole process (>= TIDEMARK_PHASE_FIRST_NAMED, or TIDEMARK_PHASE_EVAL, ...); 0: detected. */
void tidemark_plugin_phase(uint32_t phase);

/* Says that this thread is inside (1) or outside (0) an optimizer's step. */
void tidemark_plugin_optimizer(int inside);

/* Says that this thread starts a backward pass. Memory whose forward op is unknown gets the stack of this call. */
void tidemark_plugin_backward_begins(void);

/* Below, a tensor is given by its `_cdata`: the address of its TensorImpl. The caller keeps it alive. */

struct tidemark_tensor {
    uint32_t node; /* id of the node that made it, recorded now if it was not; 0: none, or the graph is not recorded */
    uint32_t device;   /* TIDEMARK_NO_DEVICE: not on a GPU */
    uint64_t address;  /* of its storage */
    uint64_t sequence; /* events of its device so far */
};
void tidemark_plugin_identify(uint64_t tensor, struct tidemark_tensor* out);

/* Labels the memory of a parameter, buffer or optimizer state (`category`: tidemark_category). Keeps a weak reference
 * to the tensor. */
void tidemark_plugin_label(uint64_t tensor, int category, const char* name);
/* Sends the labels of all labeled tensors whose memory moved, and of their gradients. */
void tidemark_plugin_update_labels(void);

/* Stores the number of nodes alive (without AccumulateGrad) and the id of the newest. */
void tidemark_plugin_live_nodes(uint64_t* alive, uint64_t* newest);

/* Learns from one example where Python functions keep saved tensors; see saved_variables.h. `tensor`: made by the
 * function whose ctx object is `ctx`. Returns 1 when it was found. */
int tidemark_plugin_learn_python_function(uint64_t tensor, uint64_t ctx, uint64_t ctx_bytes, uint64_t first_saved,
                                          uint64_t saved_count);

#ifdef __cplusplus
}
#endif
