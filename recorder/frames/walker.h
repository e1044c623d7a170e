/* Walks the Python frames of the calling thread; C ABI, called by the Python package.
 *
 * A thread that has released the interpreter's lock (as PyTorch does around every op) stands still in Python: nobody
 * but itself changes its frames, and they keep their code objects alive. So its chain of frames can be read without
 * the lock and without changing a reference count. What is read lies at offsets that differ between Python versions
 * (layouts.h); before they are trusted, the chain is compared with what Python itself says.
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

/* Chooses the layout for this interpreter and proves it on the calling thread: its innermost frames must be `known`,
 * innermost first. 1: stacks can be walked. 0: not; `error` holds a sentence. Reads memory safely even if the layout
 * is wrong. */
int tidemark_frames_prepare(int major, int minor, const struct tidemark_known_frame* known, int count, char* error,
                            size_t error_size);

/* From now on core's stack() walks. `module_call_code`: id() of the code of torch.nn.Module._wrapped_call_impl, whose
 * first argument is the module; 0: modules are not recorded. Frames of files in `hidden_folder` (the package's own
 * hooks) are left out. Stack ids are even without, odd with a module. */
int tidemark_frames_walk_for(const struct tidemark_api* api, uint64_t module_call_code, const char* hidden_folder);

/* A module named before is gone: another may take its address. Called with the interpreter's lock. */
void tidemark_frames_module_destroyed(void);

/* Addresses of modules that stacks ran through since the last call; at most `capacity`, returns how many. The caller
 * names them (TIDEMARK_MODULE). Called with the interpreter's lock. */
int tidemark_frames_new_modules(uint64_t* addresses, int capacity);

#ifdef __cplusplus
}
#endif
