// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A map from hashes to numbers; a look-up takes one or two cache lines. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark::frames {

class NumberTable {
public:
    /// Returns 0 if the hash is unknown.
    uint32_t find(uint64_t hash) const { return entries_.empty() ? 0 : entries_[slot_of(hash)].number; }

    /// Requires an unknown hash and a number other than 0.
    void add(uint64_t hash, uint32_t number) {
        if ((size_ + 1) * 2 > entries_.size()) {
            grow();
        }
        entries_[slot_of(hash)] = {hash, number};
        ++size_;
    }

    size_t size() const { return size_; }
    void clear() {
        entries_.clear();
        size_ = 0;
    }

private:
    struct Entry {
        uint64_t hash = 0;
        uint32_t number = 0;
    };

    size_t slot_of(uint64_t hash) const {
        const size_t mask = entries_.size() - 1;
        size_t slot = hash & mask;
        while (entries_[slot].number != 0 && entries_[slot].hash != hash) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    void grow() {
        std::vector<Entry> old(entries_.empty() ? 1024 : entries_.size() * 2);
        old.swap(entries_);
        for (const Entry& entry : old) {
            if (entry.number != 0) {
                entries_[slot_of(entry.hash)] = entry;
            }
        }
    }

    std::vector<Entry> entries_;  ///< open addressing; a power of two long
    size_t size_ = 0;
};

}  // namespace tidemark::frames
