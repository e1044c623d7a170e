// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A queue in order of distance; equally distant entries leave it in the order in which they came.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/heap/heap.h"

namespace tidemark::heap {

/// Requires that each entry is at most TIDEMARK_HEAP_FURTHEST further away than the one that left the queue last.
class SearchQueue {
public:
    void push(uint32_t number, uint32_t distance) {
        buckets_[distance % buckets_.size()].push_back(number);
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    /// Removes and returns the nearest entry. Requires !empty().
    uint32_t pop() {
        while (next_ == current().size()) {
            current().clear();
            next_ = 0;
            ++distance_;
        }
        --size_;
        return current()[next_++];
    }
    /// Returns the entry `count` places after the next one, or the last one of the same distance. Requires !empty().
    uint32_t ahead(size_t count) { return current()[std::min(next_ + count, current().size() - 1)]; }
    /// Returns the distance of the entry that left the queue last.
    uint32_t distance() const { return distance_; }

private:
    std::vector<uint32_t>& current() { return buckets_[distance_ % buckets_.size()]; }

    std::array<std::vector<uint32_t>, TIDEMARK_HEAP_FURTHEST + 1> buckets_;
    size_t next_ = 0, size_ = 0;  ///< position in the current bucket
    uint32_t distance_ = 0;
};

}  // namespace tidemark::heap
