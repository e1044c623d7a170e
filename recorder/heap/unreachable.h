// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds paths to objects that no root reaches. A reference cycle, code outside Python or an expression in progress
// retains them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/heap/address_set.h"
#include "recorder/heap/heap.h"
#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

class UnreachableObjects {
public:
    /// `objects`: all objects of the garbage collector. The caller may own references to targets only.
    UnreachableObjects(std::span<const Address> objects, const AddressSet& seen, const AddressSet& targets);

    struct Path {
        tidemark_heap_path_start start;
        int32_t cycle_length, omitted;
        std::vector<Address> objects;  ///< first referrer first
    };
    /// Returns nothing if no object refers to the target.
    std::optional<Path> path_to(Address target) const;

    size_t size() const { return objects_.size(); }

private:
    static constexpr uint32_t none = UINT32_MAX;
    struct Object {
        Address address;
        uint32_t referrer = none;  ///< index of the first one found
        uint32_t referrers = 0;
    };

    static int visit(void* object, void* left) noexcept;
    std::vector<Address> cycle_through(uint32_t number) const;
    bool is_retained_by_others(std::span<const Address> cycle) const;

    const AddressSet& targets_;
    std::vector<Object> objects_;
    std::unordered_map<Address, uint32_t> numbers_;
    uint32_t visiting_ = 0;  ///< index of the object whose references are read
};

}  // namespace tidemark::heap
