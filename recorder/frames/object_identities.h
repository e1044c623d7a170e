// Whether an address still stands for the same Python object: objects die, and others take their place.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tidemark::frames {

/// Thread-safe. What was learnt about addresses holds as long as the age stays the same.
class ObjectIdentities {
public:
    /// From now on, the death of a code object that somebody relies on makes the age grow. Python offers no notice
    /// before 3.12, so the type's own deallocation is preceded by ours. Once per process; lasts for its life.
    void watch_code_objects();

    /// Somebody will take `code` for what it is now.
    void rely_on(uint64_t code) { bits_of(code).fetch_or(bit_of(code), std::memory_order_relaxed); }
    bool is_relied_on(uint64_t code) { return (bits_of(code).load(std::memory_order_relaxed) & bit_of(code)) != 0; }

    uint32_t age() const { return age_.load(std::memory_order_acquire); }
    void grow_older() { age_.fetch_add(1, std::memory_order_release); }

private:
    // A filter: another address with the same bit only makes the age grow once too often.
    static constexpr size_t words = 1 << 13;
    static uint64_t spread(uint64_t address) { return (address >> 4) * 0x9e3779b97f4a7c15u; }
    std::atomic<uint64_t>& bits_of(uint64_t address) { return bits_[spread(address) >> 51]; }
    static uint64_t bit_of(uint64_t address) { return uint64_t{1} << (spread(address) >> 45 & 63); }

    std::array<std::atomic<uint64_t>, words> bits_{};
    std::atomic<uint32_t> age_{0};
};

}  // namespace tidemark::frames
