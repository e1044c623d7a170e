// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Checks whether addresses still belong to the same Python objects: destroyed objects are replaced by others.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tidemark::frames {

/// Thread-safe. What a caller knows of an address is valid as long as age() stays the same.
class ObjectIdentities {
public:
    /// Raises the age from now on when a code object is destroyed that a caller relies on. Replaces the deallocator of
    /// the type, since Python before 3.12 has no notification. Once per process.
    void watch_code_objects();

    /// Notes that a caller stores what `code` is now.
    void rely_on(uint64_t code) { bits_of(code).fetch_or(bit_of(code), std::memory_order_relaxed); }
    bool is_relied_on(uint64_t code) { return (bits_of(code).load(std::memory_order_relaxed) & bit_of(code)) != 0; }

    uint32_t age() const { return age_.load(std::memory_order_acquire); }
    void grow_older() { age_.fetch_add(1, std::memory_order_release); }

private:
    // A filter: another address with the same bit raises the age without need.
    static constexpr size_t words = 1 << 13;
    static uint64_t spread(uint64_t address) { return (address >> 4) * 0x9e3779b97f4a7c15u; }
    std::atomic<uint64_t>& bits_of(uint64_t address) { return bits_[spread(address) >> 51]; }
    static uint64_t bit_of(uint64_t address) { return uint64_t{1} << (spread(address) >> 45 & 63); }

    std::array<std::atomic<uint64_t>, words> bits_{};
    std::atomic<uint32_t> age_{0};
};

}  // namespace tidemark::frames
