// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* C ABI of the plugin inside PyTorch, called by the Python package.
 *
 * The package builds it from these sources on first use, per torch version, against torch's own headers. It links c10,
 * c10_cuda and torch_cpu, never Python. It uses no iostreams, because a compiler may link its own C++ runtime,
 * whose locales are not those of the program. Once attached it stays loaded: PyTorch cannot detach a tracker.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recorder/core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_PLUGIN_VERSION 10u

uint32_t tidemark_plugin_version(void);

enum tidemark_plugin_parts {
    TIDEMARK_PLUGIN_ALLOCATOR = 1,   /* requires initialized CUDA; before, there is no allocator */
    TIDEMARK_PLUGIN_OPS = 2,         /* ops, executed nodes, named ranges */
    TIDEMARK_PLUGIN_GRAPH = 4,       /* the autograd graph and the categories of memory; requires ops */
    TIDEMARK_PLUGIN_LIGHT_STEPS = 8, /* of steps that repeat known ones, records allocator events alone */
    TIDEMARK_PLUGIN_DRIVER = 16      /* attributes driver allocations, in place of the allocator's events */
};

/* Starts to record `parts` and sends the state of every device at the start. May be called again for the next
 * recording, or for more parts. Returns 1, or 0 with a sentence in `error`. */
int tidemark_plugin_attach(const struct tidemark_api* api, int parts, char* error, size_t error_size);

/* Stops recording. */
void tidemark_plugin_detach(void);

/* Ignores (1) allocator events, ops and the graph, or records them again (0). The recording has a gap then: only for
 * benchmarks, which compare steps with and without. */
void tidemark_plugin_suspend(int suspended);

/* Sends the allocator's state, which the recorder compares with its replay. Returns 1. Returns 0 without a state while
 * the program records PyTorch's memory history, because the snapshot would appear in that history. */
int tidemark_plugin_check(void);

/* Stores the number of events so far of devices 0 .. count-1. Returns the number of devices. */
int tidemark_plugin_sequences(uint64_t* sequences, int count);

/* Sets the phase of the whole process (a tidemark_phase, or a number >= TIDEMARK_PHASE_FIRST_NAMED); 0: detects it. */
void tidemark_plugin_phase(uint32_t phase);

/* Sets whether this thread is inside (1) or outside (0) an optimizer's step. */
void tidemark_plugin_optimizer(int inside);

/* Handles the end of a training step, whose TIDEMARK_STEP was sent. */
void tidemark_plugin_step_ended(void);
/* Sends the TIDEMARK_STEP of a training step that ends, and handles that: one call costs less than two. */
void tidemark_plugin_end_step(int source, uint64_t number);
/* Returns 0 in light steps and while the user has paused the details: then nothing needs to be recorded but allocator
 * events. */
int tidemark_plugin_records_details(void);

/* Reports that this thread starts a backward pass. Memory whose forward op is unknown gets the stack of this call. */
void tidemark_plugin_backward_begins(void);
/* Reports that it ends, also after an exception. */
void tidemark_plugin_backward_ends(void);

/* The functions below take a tensor as its `_cdata`: the address of its TensorImpl. The caller retains the tensor. */

struct tidemark_tensor {
    uint32_t
        node; /* id of the node that created it, which is recorded if it was not; 0: none, or no graph is recorded */
    uint32_t device;   /* TIDEMARK_NO_DEVICE: not on a GPU */
    uint64_t address;  /* of its storage */
    uint64_t sequence; /* events of its device so far */
    uint64_t storage_bytes;
    uint64_t bytes; /* of the tensor itself; less than storage_bytes for a view of a part */
};
void tidemark_plugin_identify(uint64_t tensor, struct tidemark_tensor* out);

/* Returns the address of the tensor's storage; 0: none. */
uint64_t tidemark_plugin_block_of(uint64_t tensor);
/* Returns whether a node created the tensor. */
int tidemark_plugin_has_node(uint64_t tensor);
/* Returns whether a node created the tensor, or its memory is on a GPU. */
int tidemark_plugin_is_recorded(uint64_t tensor);
/* Returns the tensor in .grad, read from the field; of a sparse one its values. 0: none. No other thread may replace
 * the gradient. */
uint64_t tidemark_plugin_gradient_of(uint64_t tensor);

/* Labels the memory of a parameter, buffer or optimizer state (`category`: tidemark_category), or renames it. Stores a
 * weak reference to the tensor. */
void tidemark_plugin_label(uint64_t tensor, int category, const char* name);
/* Sends the labels of all labeled tensors whose memory moved, and of their gradients. */
void tidemark_plugin_update_labels(void);
/* The same without gradients, for a thread that is not the program's: a gradient that is being replaced may be read on
 * the thread that replaces it only, because PyTorch releases the interpreter lock while it destroys it. */
void tidemark_plugin_update_labels_of_tensors(void);
/* The same for parameters alone, after a backward pass, which neither creates nor moves buffers and optimizer state. */
void tidemark_plugin_update_labels_of_parameters(void);

/* Stores the number of nodes alive (without AccumulateGrad) and the id of the newest. */
void tidemark_plugin_live_nodes(uint64_t* alive, uint64_t* newest);

/* Finds the offset of saved tensors in Python functions from one example; see saved_variables.h. `tensor`: a result of
 * the function whose ctx object is `ctx`. Returns 1 on success. */
int tidemark_plugin_learn_python_function(uint64_t tensor, uint64_t ctx, uint64_t ctx_bytes, uint64_t first_saved,
                                          uint64_t saved_count);
/* Finds the offset of the TensorImpl in Python tensors from one example; see wrapped_tensor.h. Returns 1 on success. */
int tidemark_plugin_learn_tensor_object(uint64_t object, uint64_t bytes, uint64_t impl, uint64_t tensor_class);

#ifdef __cplusplus
}
#endif
