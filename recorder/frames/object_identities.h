// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Detects that an address may belong to another Python object: addresses of destroyed objects are reused.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tidemark::frames {

/// Thread-safe. Data that a caller caches about an address is valid as long as generation() stays the same.
class ObjectIdentities {
public:
    /// Starts a new generation whenever a watched code object is destroyed. Replaces the deallocator of the type, since
    /// Python before 3.12 has no notification. Only the first call in a process has an effect.
    void watch_code_objects();

    /// Declares that a caller caches data about `code`.
    void watch(uint64_t code) { bits_of(code).fetch_or(bit_of(code), std::memory_order_relaxed); }
    bool is_watched(uint64_t code) { return (bits_of(code).load(std::memory_order_relaxed) & bit_of(code)) != 0; }

    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    void start_generation() { generation_.fetch_add(1, std::memory_order_release); }

private:
    // A Bloom-like filter: another address with the same bit starts a generation unnecessarily.
    static constexpr size_t words = 1 << 13;
    static uint64_t spread(uint64_t address) { return (address >> 4) * 0x9e3779b97f4a7c15u; }
    std::atomic<uint64_t>& bits_of(uint64_t address) { return bits_[spread(address) >> 51]; }
    static uint64_t bit_of(uint64_t address) { return uint64_t{1} << (spread(address) >> 45 & 63); }

    std::array<std::atomic<uint64_t>, words> bits_{};
    std::atomic<uint32_t> generation_{0};
};

}  // namespace tidemark::frames
