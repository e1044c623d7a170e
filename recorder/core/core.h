// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* The recorder inside a recorded process: starts the recorder process, provides rings, takes records.
 *
 * C ABI. A process has at most one recording at a time. Its state is global because a process has one allocator, one
 * CUPTI and one interpreter. Any thread may call every function. After fork() the child records nothing until it starts
 * a recording of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recorder/core/records.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_CORE_VERSION 4u

/* The libraries export nothing else, since they are loaded into other programs. */
#define TIDEMARK_EXPORT __attribute__((visibility("default")))

/* A thread's ring. The members after these are private to core. */
typedef struct tidemark_ring {
    uint16_t
        serial; /* of its thread, for tidemark_record.event.stack_thread; 0: other threads cannot name its stacks */
    const uint32_t* details_paused; /* not 0 while the user has paused the details; another process writes it */
} tidemark_ring;

struct tidemark_options {
    const char* recorder;   /* path of the program tidemark-recorder */
    const char* output;     /* the trace to write */
    const char* session;    /* session folder that `tidemark record` watches; NULL: none */
    uint64_t ring_capacity; /* records per ring, a power of two; 0: the default (2^18, 16 MiB) */
    uint32_t force;         /* 1: replaces an existing trace; 0: an existing trace is an error */
    uint32_t claims_name;   /* 1: `output` belongs to the first process of the session that uses the GPU, and others
                               derive their names from it (SESSIONS.md); 0: this process writes `output` */
};

/* Starts a recording and waits until the recorder process is ready. Returns 1 (also if a recording runs already), with
 * a notice for the user in `sentence` or an empty text, or 0 with a sentence that names the cause and the fix. */
int tidemark_start(const struct tidemark_options* options, char* sentence, size_t sentence_size);

/* Returns 1 if the user wants a trace of this process: recorder/core/rank.h. */
int tidemark_is_selected(void);

/* Starts the recording that the environment requests (TIDEMARK_RECORD=1 and other variables: SESSIONS.md). Returns 0
 * with an empty sentence if it requests none. */
int tidemark_start_from_environment(char* sentence, size_t sentence_size);

/* Ends the recording and waits at most `wait_ms` for the complete trace. `how`: tidemark_end. `sentence`: the last line
 * of an uncaught exception; NULL: none. Returns 1 when the trace is complete. */
int tidemark_stop(int how, const char* sentence, uint32_t wait_ms);

/* Returns how many heap scans the recorder has requested, because memory of some allocation sites keeps growing. */
uint32_t tidemark_scans_wanted(void);
/* Stores the addresses of at most `capacity` blocks of these sites, and returns their number. */
int tidemark_growing_blocks(uint64_t* addresses, int capacity);

/* Returns whether the user has paused the details: then only allocator and driver events are recorded. */
int tidemark_details_paused(void);
/* Returns how many heap scans for everything the user has requested. */
uint32_t tidemark_full_scans_wanted(void);
/* Tells the recorder that the requests up to this number are served. */
void tidemark_full_scans_made(uint32_t number);
/* Tells the recorder whether this process makes (1) such scans or not (0). */
void tidemark_serve_scans(int serves);

/* Returns the path of the trace; empty before the first recording, and while the trace has no name yet because the
 * process has not used the GPU. Valid until the next start. */
const char* tidemark_output(void);

/* Returns what the user should know at the end of the recording: why the recorder process failed, or why there are no
 * events. Empty if there is nothing. Valid until the next start. */
const char* tidemark_end_notice(void);

/* The functions that the plugin and the driver part call. The table saves them from linking core. */
struct tidemark_api {
    uint32_t version; /* TIDEMARK_CORE_VERSION */
    /* Returns the number of this process's recording, from 1; 0 while it does not record. */
    int (*recording)(void);
    /* Returns this thread's ring; NULL when not recording, in a forked child, or when all rings are in use. */
    tidemark_ring* (*this_thread)(void);
    /* Puts a message into this thread's ring. Sets the fields extra, bytes and (if 0) ticks. If the ring is full, waits
     * up to a second for the recorder, then drops and counts the message. Returns 1 when it is in the ring. */
    int (*push)(tidemark_ring* ring, struct tidemark_record* record, const void* payload, uint32_t bytes);
    /* Returns the id of a text in this thread's namespace and defines it if it is new; 0: that failed. */
    uint32_t (*text)(tidemark_ring* ring, const char* text, size_t length);
    /* Returns the id of this thread's Python stack in its namespace; 0: none, or stacks are not recorded. Stores a hash
     * of the stack's lines, which does not depend on the modules in it, unless `lines` is NULL. Returns 0 while the
     * user has paused the details. */
    uint32_t (*stack)(tidemark_ring* ring, uint16_t* lines);
    /* Asks the recorder for an NVML sample and waits up to `wait_ms` for it. Returns 1 when it was taken. */
    int (*sample_now)(uint32_t wait_ms);
    /* Sets the function that walks stacks. It runs on the thread itself, without the GIL. NULL: none. */
    void (*set_stack_walker)(uint32_t (*walk)(tidemark_ring* ring, uint16_t* lines));
    /* Numbers `count` driver events of a device. Returns the number of the first one. */
    uint64_t (*number_driver_events)(uint32_t device, uint32_t count);
    /* Returns the number of driver events of a device so far. */
    uint64_t (*driver_events)(uint32_t device);
    /* Returns 1 when the recorder has decided that driver allocations are the events of all devices. */
    int (*driver_owns_events)(void);
    /* Sets stack, stack_thread, op and phase of a TIDEMARK_DRIVER record: those of this thread now. */
    void (*attribute)(tidemark_ring* ring, struct tidemark_record* record);
    /* Sets the function that does this better than the stack walker. It runs on the thread itself. NULL: none. */
    void (*set_attribution)(void (*attribute)(tidemark_ring* ring, struct tidemark_record* record));
};

/* Returns the table; NULL if core has another version. */
const struct tidemark_api* tidemark_core(uint32_t version);

#ifdef __cplusplus
}
#endif
