// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* Records calls of the CUDA driver inside the calling process, through CUPTI's callback API.
 *
 * CUPTI allows one subscriber. The driver part subscribes on request, and pauses and resumes on request, so that the
 * user's own profiler can subscribe in between. It never uses CUPTI's activity API, whose buffers belong to the whole
 * process.
 *
 * C ABI, used by the CUDA driver (injection) and from Python (ctypes). Any thread may call; no function throws.
 *
 * The records (TIDEMARK_DRIVER):
 *   ALLOC, FREE   at the end of a successful call. A FREE of memory older than the recording has size 0.
 *                 Memory imported from another process is MAPPED with handle 0.
 *   PHYSICAL      address is the handle. FREE when it is released and unmapped everywhere, since that frees it.
 *   POOL          address is the pool. Its size is read after calls that may change it; ALLOC and FREE are the
 *                 difference. Memory that a pool releases during a synchronization shows at the next read.
 *   CONTEXT_*     address is the context. A destroyed context frees its DEVICE, MANAGED and ARRAY memory.
 *   MODULE_LOADED handle is its number, size that of its code.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The CUDA driver calls this at cuInit when CUDA_INJECTION64_PATH is the path of this library. Subscribes if
 * TIDEMARK_WITH includes the driver part. The recording that the environment requests starts with the first context or
 * allocation. Always returns 1, because a failure must not affect the program. */
int InitializeInjection(void);

/* Subscribes to driver calls; called once per recording. Returns 1 (also if it is subscribed already), or 0 with the
 * cause and the fix in `sentence`, which is also recorded as a data gap. */
int tidemark_driver_attach(char* sentence, size_t sentence_size);

/* Unsubscribes from CUPTI, so that another tool can subscribe. */
void tidemark_driver_pause(void);

/* Subscribes again after tidemark_driver_pause(); may be repeated. Returns 1 when it is subscribed, and 0 if another
 * tool is still subscribed or the driver part never was. */
int tidemark_driver_resume(void);

/* Memory whose allocation is an event of its device in the running recording. */
struct tidemark_driver_place {
    uint64_t address;  /* of its events */
    uint64_t sequence; /* events of its device so far */
    uint32_t device;
};
/* Finds the memory that contains an address of the GPU. Returns 1, or 0 if none is known. */
int tidemark_driver_place_of(uint64_t address, struct tidemark_driver_place* place);

#ifdef __cplusplus
}
#endif
