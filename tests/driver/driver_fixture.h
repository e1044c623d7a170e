// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The driver part with a fake CUPTI: calls of the program, and the records that they lead to.
#pragma once

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "recorder/driver/driver.h"
#include "tests/driver/fake_cupti.h"
#include "tests/driver/stub_core.h"

namespace tidemark::recorder {

inline fake_cupti::Control& fake() {
    static fake_cupti::Control* control = [] {
        void* library = dlopen(FAKE_CUPTI, RTLD_NOW);
        return reinterpret_cast<fake_cupti::Control* (*)()>(dlsym(library, "fake_cupti_control"))();
    }();
    return *control;
}

inline void set_pool_bytes(uint64_t bytes) {
    static auto* const pool_bytes =
        static_cast<uint64_t*>(dlsym(dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL), "fake_cuda_pool_bytes"));
    *pool_bytes = bytes;
}

/// Returns a record as text: "alloc device d0 1000+200".
inline std::string text_of(const tidemark_record& record) {
    constexpr const char* actions[]{"alloc", "free", "context created", "context destroyed", "module", "on", "off"};
    constexpr const char* memories[]{"device", "async", "pool", "physical", "mapped", "pinned", "managed", "array"};
    const auto& driver = record.driver;
    std::string text = actions[record.detail];
    if (record.detail > TIDEMARK_DRIVER_FREE) {
        return text + (record.detail < TIDEMARK_DRIVER_CAPTURE_ON ? " d" + std::to_string(driver.device) : "");
    }
    text += std::string(" ") + memories[driver.memory] + " d" + std::to_string(driver.device) + " " +
            std::to_string(driver.address) + "+" + std::to_string(driver.size);
    return text + (driver.memory == TIDEMARK_MEMORY_MAPPED && driver.handle != 0
                       ? " of " + std::to_string(driver.handle)
                       : "");
}

class Driver : public testing::Test {
protected:
    void SetUp() override {
        tidemark_driver_pause();
        stub_core() = {};
        fake().subscribe_result = 0;
        fake().subscriber = "";
        set_pool_bytes(0);
        unsetenv("TIDEMARK_WITH");
        unsetenv("TIDEMARK_RECORD");
        setenv("TIDEMARK_CUPTI", FAKE_CUPTI, 1);
    }

    void attach() {
        ASSERT_EQ(tidemark_driver_attach(nullptr, 0), 1);
        stub_core().messages.clear();
    }

    /// Returns the records since the last call.
    std::vector<std::string> recorded() {
        std::vector<std::string> texts;
        for (const tidemark_record& record : stub_core().driver_records()) {
            texts.push_back(text_of(record));
        }
        stub_core().messages.clear();
        return texts;
    }

    /// One callback of a call, as CUPTI reports it.
    struct Call {
        cupti::Domain domain;
        uint32_t id;
        const void* parameters;
        int result = 0;
        int device = 0;
        uint64_t correlation = 0;

        void report(cupti::Site site) {
            if (!fake().subscribed || !fake().is_enabled(domain, id)) {
                return;
            }
            const cupti::CallbackData data{
                site, "", parameters, &result, "", reinterpret_cast<void*>(intptr_t{device} + 1), 1, &correlation, 1};
            fake().callback(fake().user, domain, id, &data);
        }
    };
    static void call(uint32_t id, const void* parameters, int result = 0, int device = 0) {
        Call made{cupti::driver_api, id, parameters, result, device};
        made.report(cupti::enter);
        made.report(cupti::exit);
    }

    static void allocate(uint64_t address, size_t size, uint32_t id = cupti::cuMemAlloc_v2, int device = 0) {
        const cupti::AllocateParams params{&address, size};
        call(id, &params, 0, device);
    }
    static void free(uint64_t address, uint32_t id = cupti::cuMemFree_v2, int result = 0) {
        const cupti::FreeParams params{address};
        call(id, &params, result);
    }
    static void create(uint64_t handle, size_t size, int device = 0) {
        const cupti::AllocationProperties properties{1, 1, cupti::location_device, device};
        const cupti::CreateParams params{&handle, size, &properties};
        call(cupti::cuMemCreate, &params);
    }
    static void map(uint64_t address, size_t size, uint64_t handle) {
        const cupti::MapParams params{address, size, 0, handle};
        call(cupti::cuMemMap, &params);
    }
    static void unmap(uint64_t address, size_t size) {
        const cupti::RangeParams params{address, size};
        call(cupti::cuMemUnmap, &params);
    }
};

}  // namespace tidemark::recorder
