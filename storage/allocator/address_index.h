// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds records by address. The records stay where their owner stores them, so an index needs 6 to 8 bytes per record:
// a recorder has one for each of millions of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark {

/// A hash table with chains of record numbers. `records[number].address` must be the address of each record in the
/// index. Not thread-safe.
class AddressIndex {
public:
    static constexpr uint32_t none = UINT32_MAX;

    /// Returns the number of the record at an address, or none. Of several, returns the one that was added last.
    template <class Records>
    uint32_t find(const Records& records, uint64_t address) const {
        if (heads_.empty()) {
            return none;
        }
        uint32_t number = heads_[slot_of(address)];
        while (number != none && records[number].address != address) {
            number = next_[number];
        }
        return number;
    }

    /// Requires a number that is not in the index.
    template <class Records>
    void add(const Records& records, uint32_t number) {
        if (size_ >= records_per_slot * heads_.size()) {
            grow(records);
        }
        if (number >= next_.size()) {
            next_.resize(size_t{number} + 1, none);
        }
        link(heads_[slot_of(records[number].address)], number);
        ++size_;
    }

    /// Does nothing if the record is not in the index. `address`: of the record.
    void remove(uint64_t address, uint32_t number) {
        if (uint32_t* const reference = reference_to(address, number)) {
            *reference = next_[number];
            --size_;
        }
    }

    /// Handles that a record at this address has another number now.
    void renumber(uint64_t address, uint32_t from, uint32_t to) {
        if (uint32_t* const reference = reference_to(address, from)) {
            next_[to] = next_[from];
            *reference = to;
        }
    }

private:
    static constexpr size_t fewest_slots = 64, records_per_slot = 2;

    size_t slot_of(uint64_t address) const {
        const uint64_t hash = address * 0x9e3779b97f4a7c15u;
        return (hash ^ hash >> 32) & (heads_.size() - 1);
    }
    void link(uint32_t& head, uint32_t number) { next_[number] = std::exchange(head, number); }

    /// Returns the element of heads_ or next_ that is `number`; nullptr if there is none.
    uint32_t* reference_to(uint64_t address, uint32_t number) {
        if (heads_.empty()) {
            return nullptr;
        }
        uint32_t* reference = &heads_[slot_of(address)];
        while (*reference != none && *reference != number) {
            reference = &next_[*reference];
        }
        return *reference == none ? nullptr : reference;
    }

    template <class Records>
    void grow(const Records& records) {
        const std::vector<uint32_t> old =
            std::exchange(heads_, std::vector<uint32_t>(heads_.empty() ? fewest_slots : 2 * heads_.size(), none));
        for (const uint32_t head : old) {
            // Each chain is turned around before its records are added, so that the latest one at an address stays
            // first.
            uint32_t reversed = none;
            for (uint32_t number = head; number != none;) {
                number = std::exchange(next_[number], std::exchange(reversed, number));
            }
            for (uint32_t number = reversed; number != none;) {
                const uint32_t next = next_[number];
                link(heads_[slot_of(records[number].address)], number);
                number = next;
            }
        }
    }

    std::vector<uint32_t> heads_;  ///< a power of two long
    std::vector<uint32_t> next_;   ///< by number: the next one in the same chain
    size_t size_ = 0;
};

}  // namespace tidemark
