// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A pool of short-lived vectors. A released vector keeps its memory for the next user.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

template <class T>
class RecyclingPool {
public:
    using Items = std::vector<T>;

    uint32_t take() {
        if (free_.empty()) {
            items_.emplace_back();
            return static_cast<uint32_t>(items_.size() - 1);
        }
        const uint32_t id = free_.back();
        free_.pop_back();
        return id;
    }

    void release(uint32_t id) {
        constexpr size_t most_kept_items = 4096;
        items_[id].clear();
        if (items_[id].capacity() > most_kept_items) {
            items_[id].shrink_to_fit();
        }
        free_.push_back(id);
    }

    size_t size() const { return items_.size(); }
    Items& operator[](uint32_t id) { return items_[id]; }
    const Items& operator[](uint32_t id) const { return items_[id]; }

private:
    std::vector<Items> items_;
    std::vector<uint32_t> free_;
};

}  // namespace tidemark
