/* The recorder inside a recorded process: starts the recorder process, hands out rings, takes records.
 *
 * C ABI. One recording per process at a time; the state is the library's own because a process has one allocator,
 * one CUPTI and one interpreter. Everything may be called from any thread. After fork() the child records nothing
 * until it starts a recording of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recorder/core/records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_CORE_VERSION 1u

/* The libraries hide everything else: they live in other people's processes. */
#define TIDEMARK_EXPORT __attribute__((visibility("default")))

/* A thread's ring. What follows the serial is core's own. */
typedef struct tidemark_ring {
    uint16_t serial; /* of its thread, for tidemark_record.event.stack_thread; 0: stacks have no name */
} tidemark_ring;

struct tidemark_options {
    const char* recorder;   /* path of the program tidemark-recorder */
    const char* output;     /* the trace to write */
    const char* session;    /* folder through which `tidemark record` follows this process; NULL: none */
    uint64_t ring_capacity; /* records per ring, a power of two; 0: the default (2^18, 16 MiB) */
    uint32_t replace;       /* 1: an existing trace is replaced, 0: that is an error */
};

/* Starts a recording and waits until the recorder process is ready. 1: recording (also if it was already);
 * 0: not, and `error` holds one sentence with the cause and the remedy. */
int tidemark_start(const struct tidemark_options* options, char* error, size_t error_size);

/* Starts as the environment says (TIDEMARK_RECORD=1 and its companions, see core.cpp). 0 with an empty error: the
 * environment does not ask for a recording. */
int tidemark_start_from_environment(char* error, size_t error_size);

/* Ends the recording: says how (tidemark_end) and waits at most `wait_ms` for the finished trace. 1: it is finished. */
int tidemark_stop(int how, const char* sentence, uint32_t wait_ms);

/* Where the trace is written; empty when not recording. Valid until the next start. */
const char* tidemark_output(void);

/* What the plugin and the driver part need, in one table, so that they link against nothing of ours. */
struct tidemark_api {
    uint32_t version; /* TIDEMARK_CORE_VERSION */
    int (*recording)(void);
    /* This thread's ring; NULL when not recording, in a forked child, or when all rings are taken. */
    tidemark_ring* (*this_thread)(void);
    /* Puts a message into this thread's ring; fills kind-independent fields (extra, bytes, ticks if 0). When the
     * ring is full it waits for the recorder up to a second, then drops and counts. 1: it is in the ring. */
    int (*push)(tidemark_ring* ring, struct tidemark_record* record, const void* payload, uint32_t bytes);
    /* Defines (once) and returns the id of a text in this thread's namespace; 0 when it could not be defined. */
    uint32_t (*text)(tidemark_ring* ring, const char* text, size_t length);
    /* The Python stack of this thread as an id of this thread's namespace; 0: none, or not recorded. */
    uint32_t (*stack)(tidemark_ring* ring);
    /* Asks the recorder for an NVML sample now and waits up to `wait_ms` for it. 1: taken. */
    int (*sample_now)(uint32_t wait_ms);
    /* Who walks stacks: called without the GIL on the thread itself; NULL: nobody. */
    void (*set_stack_walker)(uint32_t (*walk)(tidemark_ring* ring));
};

const struct tidemark_api* tidemark_core(uint32_t version); /* NULL: another version */

#ifdef __cplusplus
}
#endif
