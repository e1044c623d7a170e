// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A fake CUDA runtime for machines without a GPU. It loads the driver part as CUDA does, and reports its calls to the
// fake CUPTI. Its name is libcudart.so.13.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/driver/fake_cupti.h"

using namespace tidemark::recorder;

namespace {

/// Loads the driver part that CUDA_INJECTION64_PATH names, and creates a context. Returns nullptr without it.
fake_cupti::Control* initialized() {
    static fake_cupti::Control* const control = []() -> fake_cupti::Control* {
        const char* path = std::getenv("CUDA_INJECTION64_PATH");
        void* part = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
        if (part == nullptr) {
            return nullptr;
        }
        reinterpret_cast<int (*)()>(dlsym(part, "InitializeInjection"))();
        void* cupti = dlopen(std::getenv("TIDEMARK_CUPTI"), RTLD_NOW);
        auto* loaded = reinterpret_cast<fake_cupti::Control* (*)()>(dlsym(cupti, "fake_cupti_control"))();
        const cupti::ResourceData created{reinterpret_cast<void*>(1), nullptr, nullptr};
        if (loaded->subscribed) {
            loaded->callback(loaded->user, cupti::resource, cupti::context_created, &created);
        }
        return loaded;
    }();
    return control;
}

void report(cupti::Site site, uint32_t id, const void* parameters, uint64_t& correlation) {
    fake_cupti::Control* control = initialized();
    if (control == nullptr || !control->subscribed || !control->is_enabled(cupti::runtime_api, id)) {
        return;
    }
    const int result = 0;
    const cupti::CallbackData data{site, "", parameters, &result, "", reinterpret_cast<void*>(1), 1, &correlation, 1};
    control->callback(control->user, cupti::runtime_api, id, &data);
}

std::atomic<uint64_t> next_address{0x7f0000000000};

}  // namespace

extern "C" {

int cudaMalloc(void** memory, size_t size) {
    uint64_t address = 0, correlation = 0;
    const cupti::AllocateParams params{&address, size};
    report(cupti::enter, cupti::cudaMalloc, &params, correlation);
    address = next_address.fetch_add((size + 511) / 512 * 512);
    *memory = reinterpret_cast<void*>(address);
    report(cupti::exit, cupti::cudaMalloc, &params, correlation);
    return 0;
}

int cudaFree(void* memory) {
    uint64_t correlation = 0;
    const cupti::FreeParams params{reinterpret_cast<uint64_t>(memory)};
    report(cupti::enter, cupti::cudaFree, &params, correlation);
    report(cupti::exit, cupti::cudaFree, &params, correlation);
    return 0;
}
}
