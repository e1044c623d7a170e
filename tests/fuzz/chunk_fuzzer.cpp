// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Decodes the content of one chunk of allocations. Mutated files rarely reach it, because chunks have checksums. The
// first byte is the number of allocations.
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/format/chunk_codec.h"

namespace {

using namespace tidemark;

void decode(const uint8_t* data, size_t size) {
    if (size < 2) {
        return;
    }
    constexpr uint32_t capacity = 64, events = 256;
    const uint32_t count = 1 + data[0] % capacity;
    std::vector<std::byte> packed(ZSTD_compressBound(size));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), data + 1, size - 1, 1));
    auto trace = std::make_shared<Trace>();
    DeviceHistory& device = trace->devices.emplace_back();
    device.event_time.resize(events);
    device.event_ref.assign(events, EventRef(Action::unknown, 0x0fffffff));
    device.segments.resize(3);
    Allocations& a = device.allocations;
    for (auto* column : {&a.alloc_event, &a.free_event, &a.free_completed}) {
        column->resize(count);
    }
    for (auto* column : {&a.address, &a.requested, &a.block_size}) {
        column->resize(count);
    }
    for (auto* column : {&a.stack, &a.free_stack, &a.segment, &a.origin}) {
        column->resize(count);
    }
    (void)static_cast<bool>(decode_chunk(packed, device, 0, count));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    decode(data, size);
    return 0;
}
