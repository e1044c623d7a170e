// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/sort_by_key.h"

#include <gtest/gtest.h>

#include <random>

namespace tidemark {
namespace {

struct Item {
    uint64_t key = 0;
    size_t place = 0;  ///< before it was sorted
    bool operator==(const Item&) const = default;
};

/// Returns keys whose bits below `unit` and above `unit * different` are equal.
std::vector<Item> items_of(size_t count, uint64_t base, uint64_t unit, uint64_t different) {
    std::mt19937_64 random(count + different);
    std::vector<Item> items;
    for (size_t i = 0; i < count; ++i) {
        items.push_back({base + random() % different * unit, i});
    }
    return items;
}

TEST(SortByKey, SortsAsComparisonsDoAndKeepsTheOrderOfEqualKeys) {
    const uint64_t device_memory = 0x7f12'3400'0000;
    for (const size_t count : {size_t{0}, size_t{1}, fewest_items_to_distribute - 1, fewest_items_to_distribute,
                               3 * fewest_items_to_distribute}) {
        for (const auto& [base, unit, different] :
             {std::tuple<uint64_t, uint64_t, uint64_t>{device_memory, 512, 3 << 20},
              {0, 1, UINT64_MAX},
              {1, 1, 2},
              {device_memory, 512, 1},
              {UINT64_MAX - 4, 1, 5},
              {0, uint64_t{1} << 60, 16}}) {
            std::vector<Item> items = items_of(count, base, unit, different), expected = items;
            std::stable_sort(expected.begin(), expected.end(),
                             [](const Item& a, const Item& b) { return a.key < b.key; });
            sort_by_key(items, [](const Item& item) { return item.key; });
            EXPECT_EQ(items, expected) << count << " items, " << different << " keys";
        }
    }
}

}  // namespace
}  // namespace tidemark
