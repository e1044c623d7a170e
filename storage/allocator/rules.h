// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rules by which PyTorch's caching allocator turns a request into a block. Source:
// c10/cuda/CUDACachingAllocator.cpp (round_size, should_split, get_pool), torch 2.1 to 2.12.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace tidemark {

constexpr uint64_t min_block_size = 512;        ///< bytes; every block size is a multiple of it
constexpr uint64_t small_size = 1 << 20;        ///< larger requests go to the large pool
constexpr uint64_t small_segment = 2 << 20;     ///< size of every segment of the small pool
constexpr uint64_t min_own_segment = 10 << 20;  ///< large requests of at least this size get their own segment
constexpr uint64_t own_segment_multiple = 2 << 20;

/// Divisions between powers of two, for requests of [1 MiB << i, 2 MiB << i). 0 or 1: multiples of 512 B.
using RoundupDivisions = std::array<uint64_t, 16>;

struct AllocatorSettings {
    uint64_t max_split_size = UINT64_MAX;        ///< blocks of at least this size are never split
    uint64_t max_non_split_rounding = 20 << 20;  ///< largest surplus of a block that is used without a split
    uint64_t large_segment = 20 << 20;  ///< segment size for requests of 1 to 10 MiB; granule of the large pool
    RoundupDivisions roundup_divisions{};
    double garbage_collection_threshold = 0;  ///< fraction of the memory limit; 0: off
    bool expandable_segments = false;
    double memory_fraction = 0;  ///< fraction of the device that the process may use; 0: not set

    /// Returns whether segments freed right before new ones prove a retry: with these settings nothing else frees them.
    bool retries_show() const { return garbage_collection_threshold <= 0 && max_split_size == UINT64_MAX; }

    /// Reads the snapshot's allocator_settings (values as JSON text). Settings without an own entry come from
    /// PYTORCH_CUDA_ALLOC_CONF; unknown or missing keys keep the defaults.
    static AllocatorSettings from_text(const std::map<std::string, std::string>& settings);
};

/// Returns the bytes that a request needs, before a larger block is split for it.
uint64_t round_size(const AllocatorSettings& settings, uint64_t requested);

/// Returns the bytes to allocate from the driver for a request of this rounded size, outside expandable memory.
uint64_t segment_size(const AllocatorSettings& settings, uint64_t rounded);

/// Returns whether a free block with `remaining` bytes more than `rounded` is split; otherwise the request gets the
/// whole block.
bool should_split(const AllocatorSettings& settings, uint64_t rounded, uint64_t remaining, bool is_large,
                  bool is_expandable);

}  // namespace tidemark
