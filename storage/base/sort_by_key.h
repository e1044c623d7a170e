// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Sorting by a number without comparisons: a million blocks by their addresses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tidemark {

/// Below so many items comparisons take less time.
constexpr size_t fewest_items_to_distribute = 1 << 10;

/// Sorts by key(item), an unsigned number; equal ones keep their order. Each pass over all items sorts by 11 bits; bits
/// below and above those in which keys differ cost nothing. `T` must have a default constructor.
template <class T, class KeyOf>
void sort_by_key(std::vector<T>& items, KeyOf key) {
    if (items.size() < fewest_items_to_distribute) {
        std::stable_sort(items.begin(), items.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
        return;
    }
    constexpr int bits_of_digit = 11;
    constexpr size_t digits = size_t{1} << bits_of_digit;
    uint64_t lowest = UINT64_MAX, used = 0;
    for (const T& item : items) {
        lowest = std::min<uint64_t>(lowest, key(item));
    }
    for (const T& item : items) {
        used |= key(item) - lowest;
    }
    std::vector<T> sorted(items.size());
    for (int shift = std::countr_zero(used); shift < static_cast<int>(std::bit_width(used)); shift += bits_of_digit) {
        const auto digit_of = [&](const T& item) { return (key(item) - lowest) >> shift & (digits - 1); };
        std::array<size_t, digits> next{};
        for (const T& item : items) {
            ++next[digit_of(item)];
        }
        std::exclusive_scan(next.begin(), next.end(), next.begin(), size_t{0});
        for (const T& item : items) {
            sorted[next[digit_of(item)]++] = item;
        }
        std::swap(items, sorted);
    }
}

}  // namespace tidemark
