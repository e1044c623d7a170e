// How PyTorch's caching allocator turns a request into a block.
// Source: c10/cuda/CUDACachingAllocator.cpp (round_size, should_split, get_pool), torch 2.1 to 2.12.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace tidemark {

constexpr uint64_t min_block_size = 512;     ///< bytes; every block is a multiple of it
constexpr uint64_t small_size = 1 << 20;     ///< requests above it go to the large pool
constexpr uint64_t small_segment = 2 << 20;  ///< size of every segment of the small pool

struct AllocatorSettings {
    uint64_t max_split_size = UINT64_MAX;  ///< blocks of at least this size are never split
    /// Divisions between powers of two, for requests of [1 MiB << i, 2 MiB << i); 0 or 1 means multiples of 512 B.
    std::array<uint64_t, 16> roundup_divisions{};

    bool collects_garbage = false;  ///< garbage_collection_threshold is set

    /// Whether segments given back right before new ones come can only mean that the driver had refused (a retry).
    bool retries_show() const { return !collects_garbage && max_split_size == UINT64_MAX; }

    /// From the snapshot's allocator_settings (values as JSON text). Unknown or missing keys keep the defaults.
    static AllocatorSettings from_text(const std::map<std::string, std::string>& settings);
};

/// Bytes a request takes before the found block is split.
uint64_t round_size(const AllocatorSettings& settings, uint64_t requested);

/// Whether a found block with `remaining` bytes more than `rounded` is split, or handed out whole.
bool should_split(const AllocatorSettings& settings, uint64_t rounded, uint64_t remaining, bool is_large,
                  bool is_expandable);

}  // namespace tidemark
