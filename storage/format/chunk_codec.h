// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Encodes allocations as compact columns. The viewer reads them instead of rows because decoding is much faster.
//
// A chunk contains up to chunk_capacity consecutive allocations of one device. Each column is stored as differences or
// plain values in 1 to 8 byte planes (all lowest bytes, then all second bytes, ...). The chunk is one zstd frame with a
// checksum. FORMAT.md lists the columns in order. Chunks are derived from the table `allocation` and are never the only
// copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

constexpr uint32_t chunk_capacity = 1 << 16;

/// Encodes consecutive allocations of a device, at most chunk_capacity. Allocations from before the history come first.
std::vector<std::byte> encode_chunk(std::span<const AllocationRow> rows);

/// Decodes into device.allocations[first, first + count), event_time and event_ref. Requires that all three have their
/// final size. Does not trust the bytes: values out of bounds, wrong sizes and wrong checksums are errors. Thread:
/// different threads may decode different chunks into the same device.
Status decode_chunk(std::span<const std::byte> bytes, DeviceHistory& device, uint32_t first, uint32_t count);

}  // namespace tidemark
