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

#define TIDEMARK_PLUGIN_VERSION 1u

uint32_t tidemark_plugin_version(void);

/* Listens from here on and tells the state of every device at the start. CUDA must be initialised: before that
 * PyTorch has nobody to listen to. `ops`: also follow ops, nodes and named ranges. May be called again for the next
 * recording. 1: listening; 0: not, `error` holds a sentence. */
int tidemark_plugin_attach(const struct tidemark_api* api, int ops, char* error, size_t error_size);

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

#ifdef __cplusplus
}
#endif
