// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// An allocator for torch.cuda.memory.CUDAPluggableAllocator: each tensor is one cudaMalloc of the runtime that PyTorch
// has loaded.
#include <dlfcn.h>

#include <cstddef>
#include <initializer_list>

namespace {

template <class Function>
Function runtime(const char* name) {
    for (const char* library : {"libcudart.so.13", "libcudart.so.12", "libcudart.so"}) {
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            return reinterpret_cast<Function>(dlsym(handle, name));
        }
    }
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

extern "C" {

void* take(std::ptrdiff_t size, int, void*) {
    static auto* const allocate = runtime<int (*)(void**, size_t)>("cudaMalloc");
    void* memory = nullptr;
    return size > 0 && allocate(&memory, static_cast<size_t>(size)) == 0 ? memory : nullptr;
}

void give_back(void* memory, std::ptrdiff_t, int, void*) {
    static auto* const release = runtime<int (*)(void*)>("cudaFree");
    release(memory);
}
}
