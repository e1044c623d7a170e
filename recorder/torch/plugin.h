/* The plugin that listens inside PyTorch: its C ABI, called by the Python package.
 *
 * Built per torch version from these sources, on first use, against torch's own headers; links c10, c10_cuda and
 * torch_cpu, never Python. No iostreams: should the compiler link a C++ runtime of its own in, its locales would not be
 * the program's. Once attached it stays loaded: PyTorch cannot let go of a tracker.
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
    TIDEMARK_PLUGIN_ALLOCATOR = 1, /* CUDA must be initialised: before that PyTorch has nobody to listen to */
    TIDEMARK_PLUGIN_OPS = 2,       /* ops, nodes being run, named ranges */
    TIDEMARK_PLUGIN_GRAPH = 4      /* the autograd graph and what memory is to the program; needs ops */
};

/* Listens from here on to `parts` and tells the state of every device at the start. May be called again for the next
 * recording, or for more parts. 1: listening; 0: not, `error` holds a sentence. */
int tidemark_plugin_attach(const struct tidemark_api* api, int parts, char* error, size_t error_size);

/* Takes no more events. */
void tidemark_plugin_detach(void);

/* Tells the allocator's own view of its blocks, for the recorder to compare. Skipped (0) while the program records
 * PyTorch's memory history itself, which would see it. */
int tidemark_plugin_check(void);

/* Events so far of devices 0 .. count-1. Returns the number of devices. */
int tidemark_plugin_sequences(uint64_t* sequences, int count);

/* The named phase (>= TIDEMARK_PHASE_FIRST_NAMED, or TIDEMARK_PHASE_EVAL, ...) of the whole process; 0: none. */
void tidemark_plugin_phase(uint32_t phase);

/* This thread is inside (1) or outside (0) an optimizer's step. */
void tidemark_plugin_optimizer(int inside);

/* This thread is about to start a backward pass: its stack stands in for memory whose forward op is unknown. */
void tidemark_plugin_backward_begins(void);

/* Below, tensors are given by their `_cdata`: the address of their TensorImpl. The caller holds them. */

struct tidemark_tensor {
    uint32_t node;     /* number of the node that made it, told now if it was not; 0: none, or graphs are not followed */
    uint32_t device;   /* TIDEMARK_NO_DEVICE: not on a GPU */
    uint64_t address;  /* of its storage */
    uint64_t sequence; /* events of its device so far */
};
void tidemark_plugin_identify(uint64_t tensor, struct tidemark_tensor* out);

/* Remembers a parameter, buffer or optimizer state by a weak reference; `category` as in records.h. */
void tidemark_plugin_watch(uint64_t tensor, int category, const char* name);
/* Tells where watched tensors and their gradients lie now. */
void tidemark_plugin_look_at_watched(void);

/* Nodes alive now (AccumulateGrad not counted), and the number of the newest. */
void tidemark_plugin_live_nodes(uint64_t* alive, uint64_t* newest);

/* How saved tensors of Python functions are found; see saved_variables.h. 1: they are. `tensor`: made by the function
 * whose ctx object this is. */
int tidemark_plugin_learn_python_function(uint64_t tensor, uint64_t ctx, uint64_t ctx_bytes, uint64_t first_saved,
                                          uint64_t saved_count);

#ifdef __cplusplus
}
#endif
