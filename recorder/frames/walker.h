// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

/* Walks the Python frames of the calling thread. C ABI, called by the Python package.
 *
 * No other thread changes the frames of a thread that has released the interpreter lock (as PyTorch does around every
 * op), and the frames keep their code objects alive. So the thread can read them without the lock and without changing
 * a reference count. The offsets differ between Python versions (layouts.h); before first use the result is compared
 * with what Python reports.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recorder/core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One frame as Python's own sys._getframe() describes it. */
struct tidemark_known_frame {
    uint64_t code;        /* id(frame.f_code) */
    const char* function; /* f_code.co_qualname, UTF-8 (co_name before 3.11) */
    const char* file;     /* f_code.co_filename */
    int line;             /* f_lineno */
};

/* Selects the layout for this interpreter and checks it on the calling thread, whose innermost frames must be `known`,
 * innermost first. Returns 1 when stacks can be walked, or 0 with a sentence in `error`. A wrong layout does not
 * crash the program. */
int tidemark_frames_prepare(int major, int minor, const struct tidemark_known_frame* known, int count, char* error,
                            size_t error_size);

/* Installs the walker in core, so tidemark_api::stack returns stacks. Returns 0 if tidemark_frames_prepare() has not
 * succeeded, else 1. `module_call_code`: id() of the code of torch.nn.Module._wrapped_call_impl,
 * whose first argument is the module; 0: modules are not recorded. Omits frames of files in `hidden_folder` (the
 * package's own hooks). Stack ids are odd when the stack has a module in it, else even. */
int tidemark_frames_walk_for(const struct tidemark_api* api, uint64_t module_call_code, const char* hidden_folder);

/* Invalidates cached modules. The caller calls it when a named module was destroyed, because another one may get its
 * address. Requires the interpreter lock. */
void tidemark_frames_module_destroyed(void);

/* Stores at most `capacity` addresses of modules that appeared in stacks since the last call, and returns their number.
 * The caller names them (TIDEMARK_MODULE). Requires the interpreter lock. */
int tidemark_frames_new_modules(uint64_t* addresses, int capacity);

#ifdef __cplusplus
}
#endif
