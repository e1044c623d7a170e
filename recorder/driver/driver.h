/* What the CUDA driver is asked for, recorded inside the process that asks: CUPTI's callback API.
 *
 * CUPTI lets one tool at a time listen. The driver part takes that place when it is asked to, and gives it up and takes
 * it back on request, so that the user's own profiler can have it in between. It never uses CUPTI's activity API,
 * whose buffers belong to the whole process.
 *
 * C ABI, used by the CUDA driver (injection) and from Python (ctypes). Any thread may call; nothing here throws.
 *
 * The records (TIDEMARK_DRIVER):
 *   ALLOC, FREE   at the end of a successful call. A FREE of memory that was there before listening began has size 0.
 *                 Memory imported from another process is MAPPED with handle 0.
 *   PHYSICAL      address is the handle. FREE when it is released and unmapped everywhere, which is when it is gone.
 *   POOL          address is the pool. What it holds is looked at after calls that may change it; ALLOC and FREE are
 *                 the difference. Memory a pool gives back while the program synchronizes shows at the next look.
 *   CONTEXT_*     address is the context. DEVICE, MANAGED and ARRAY memory of a destroyed context is gone with it.
 *   MODULE_LOADED handle is its number, size that of its code.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called by the CUDA driver at cuInit when CUDA_INJECTION64_PATH names this library. Listens when TIDEMARK_WITH
 * says so; the recording that the environment asks for starts with the first context or memory. 1 always: the program must not suffer. */
int InitializeInjection(void);

/* Listens to driver calls from here on; once per recording. 1: listening (also if it was already). 0: not, and
 * `sentence` says why and what helps; the recording holds the same as a loss. */
int tidemark_driver_attach(char* sentence, size_t sentence_size);

/* Gives CUPTI up, for somebody else who needs it. */
void tidemark_driver_pause(void);

/* Takes CUPTI back after tidemark_driver_pause; may be tried again and again. 1: listening; 0: it is still taken, or
 * was never had. */
int tidemark_driver_resume(void);

#ifdef __cplusplus
}
#endif
