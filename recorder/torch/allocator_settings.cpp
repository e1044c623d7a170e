// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/allocator_settings.h"

#include <c10/cuda/CUDAAllocatorConfig.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

namespace {

using Config = c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;

void report(const std::string& name, const std::string& json) {
    const std::string payload = name + '\0' + json;
    tidemark_record record{};
    record.kind = TIDEMARK_META;
    if (tidemark_ring* ring = ThreadState::here().ring()) {
        core()->push(ring, &record, payload.data(), static_cast<uint32_t>(payload.size()));
    }
}

std::string quoted(const char* text) {
    std::string json = "\"";
    for (; text != nullptr && *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\') {
            json += '\\';
        }
        json += *text;
    }
    return json + '"';
}

/// Returns roundup_power2_divisions as JSON. Keys: sizes in MiB, powers of two.
std::string divisions() {
    std::string json = "{";
    uint64_t mib = 1;
    for (const size_t value : Config::roundup_power2_divisions()) {
        json += (mib == 1 ? "\"" : ", \"") + std::to_string(mib) + "\": " + std::to_string(value);
        mib *= 2;
    }
    return json + "}";
}

}  // namespace

void report_allocator_settings() {
    const char* text = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
    report("PYTORCH_CUDA_ALLOC_CONF", quoted(text != nullptr ? text : std::getenv("PYTORCH_ALLOC_CONF")));
    report("max_split_size", std::to_string(static_cast<int64_t>(Config::max_split_size())));  // -1: no limit
    report("garbage_collection_threshold", std::to_string(Config::garbage_collection_threshold()));
    report("expandable_segments", Config::expandable_segments() ? "true" : "false");
    report("roundup_power2_divisions", divisions());
}

}  // namespace tidemark::plugin
