// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Allocations as compact columns: what the viewer reads instead of rows, because it is much faster.
//
// A chunk holds up to chunk_capacity consecutive allocations of one device. Each column is stored as differences or
// plain values in 1 to 8 byte planes (all lowest bytes, then all second bytes, ...); the whole is one zstd frame with
// a checksum. The column list and its order are in FORMAT.md; derived from the table `allocation`, never the only copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

constexpr uint32_t chunk_capacity = 1 << 16;

/// Encodes consecutive allocations of a device, those from before the history first; at most chunk_capacity.
std::vector<std::byte> encode_chunk(std::span<const AllocationRow> rows);

/// Decodes into device.allocations[first, first + count), event_time and event_ref, all sized beforehand. The bytes are
/// not trusted: values out of bounds, bad sizes and bad checksums are errors. Different chunks may be decoded into the
/// same device by different threads.
Status decode_chunk(std::span<const std::byte> bytes, DeviceHistory& device, uint32_t first, uint32_t count);

}  // namespace tidemark
