// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replaces libtidemark_core.so on a machine with a GPU: writes every record of the driver part as a line of JSON into
// TIDEMARK_PROBE_LOG, so that driver_probe.py can check the records of the real CUDA driver and CUPTI.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "recorder/core/core.h"

namespace {

std::mutex mutex;
std::map<std::string, uint32_t> ids;
std::map<uint32_t, std::string> texts;

FILE* log_file() {
    static FILE* const file = std::fopen(std::getenv("TIDEMARK_PROBE_LOG"), "a");
    return file;
}

constexpr uint32_t not_paused = 0;
tidemark_ring the_ring{1, &not_paused};
tidemark_ring* ring() { return &the_ring; }

int push(tidemark_ring*, tidemark_record* record, const void* payload, uint32_t bytes) {
    const std::lock_guard lock(mutex);
    const auto& driver = record->driver;
    if (record->kind == TIDEMARK_DRIVER) {
        std::fprintf(log_file(),
                     "{\"action\": %d, \"memory\": %d, \"device\": %d, \"address\": %llu, \"size\": %llu, "
                     "\"handle\": %llu, \"source\": \"%s\"}\n",
                     record->detail, driver.memory, driver.device, static_cast<unsigned long long>(driver.address),
                     static_cast<unsigned long long>(driver.size), static_cast<unsigned long long>(driver.handle),
                     texts[driver.source].c_str());
    } else if (record->kind == TIDEMARK_DATA_GAP) {
        std::fprintf(log_file(), "{\"data_gap\": \"%.*s\"}\n", static_cast<int>(bytes),
                     static_cast<const char*>(payload));
    }
    std::fflush(log_file());
    return 1;
}

uint32_t text(tidemark_ring*, const char* characters, size_t length) {
    const std::lock_guard lock(mutex);
    const auto [found, fresh] = ids.try_emplace(std::string(characters, length), static_cast<uint32_t>(ids.size() + 1));
    if (fresh) {
        texts[found->second] = found->first;
    }
    return found->second;
}

constexpr tidemark_api api{TIDEMARK_CORE_VERSION,
                           [] { return 1; },
                           ring,
                           push,
                           text,
                           [](tidemark_ring*, uint16_t*) { return uint32_t{0}; },
                           [](uint32_t) { return 0; },
                           [](uint32_t (*)(tidemark_ring*, uint16_t*)) {},
                           [](uint32_t, uint32_t) { return uint64_t{0}; },
                           [](uint32_t) { return uint64_t{0}; },
                           [] { return 0; },
                           [](tidemark_ring*, tidemark_record*) {},
                           [](void (*)(tidemark_ring*, tidemark_record*)) {}};

}  // namespace

extern "C" {

const tidemark_api* tidemark_core(uint32_t) { return &api; }

int tidemark_start_from_environment(char* error, size_t) {
    *error = '\0';
    return std::getenv("TIDEMARK_RECORD") != nullptr;
}

/// Marks the beginning of the program's next step.
void probe_step(const char* name) {
    const std::lock_guard lock(mutex);
    std::fprintf(log_file(), "{\"step\": \"%s\"}\n", name);
    std::fflush(log_file());
}
}
