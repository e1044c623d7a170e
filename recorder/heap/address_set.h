// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A compact hash set of addresses. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::heap {

class AddressSet {
public:
    /// Returns false if the address is in the set already.
    bool insert(uint64_t address) {
        if ((size_ + 1) * 2 > slots_.size()) {
            grow();
        }
        uint64_t& slot = slots_[slot_of(address)];
        if (slot == address) {
            return false;
        }
        slot = address;
        ++size_;
        return true;
    }

    bool contains(uint64_t address) const { return !slots_.empty() && slots_[slot_of(address)] == address; }
    size_t size() const { return size_; }

private:
    size_t slot_of(uint64_t address) const {
        const size_t mask = slots_.size() - 1;
        size_t slot = (address >> 4) * 0x9e3779b97f4a7c15u >> 20 & mask;
        while (slots_[slot] != 0 && slots_[slot] != address) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    void grow() {
        std::vector<uint64_t> old(slots_.empty() ? 1024 : slots_.size() * 2);
        old.swap(slots_);
        for (const uint64_t address : old) {
            if (address != 0) {
                slots_[slot_of(address)] = address;
            }
        }
    }

    std::vector<uint64_t> slots_;  ///< open addressing; a power of two long; 0: free
    size_t size_ = 0;
};

}  // namespace tidemark::heap
