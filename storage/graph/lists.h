// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Items grouped by owner, in one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tidemark {

constexpr size_t no_owner = SIZE_MAX;

/// Items 0, 1, 2, ... sorted by owner. The items of one owner are in ascending order.
class Lists {
public:
    Lists() = default;
    /// Requires owner_of(item) < `owners`, or no_owner to omit the item.
    template <class OwnerOf>
    Lists(size_t owners, size_t items, OwnerOf&& owner_of) : first_(owners + 1, 0) {
        for (size_t item = 0; item < items; ++item) {
            if (const size_t owner = owner_of(item); owner != no_owner) {
                ++first_[owner + 1];
            }
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        items_.resize(first_.back());
        std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
        for (size_t item = 0; item < items; ++item) {
            if (const size_t owner = owner_of(item); owner != no_owner) {
                items_[next[owner]++] = static_cast<uint32_t>(item);
            }
        }
    }

    std::span<const uint32_t> of(size_t owner) const {
        return {items_.data() + first_[owner], items_.data() + first_[owner + 1]};
    }
    /// Replaces each item with value(item).
    template <class Value>
    void replace(Value&& value) {
        for (uint32_t& item : items_) {
            item = value(item);
        }
    }

private:
    std::vector<uint32_t> first_{0}, items_;
};

}  // namespace tidemark
