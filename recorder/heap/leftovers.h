// What no root leads to: kept by a cycle of references, from outside Python, or by an expression in progress.
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

class Leftovers {
public:
    /// `objects`: all that the collector knows, each kept alive by one reference of the caller's, targets by any
    /// number.
    Leftovers(std::span<const Address> objects, const AddressSet& seen, const AddressSet& targets);

    struct Chain {
        tidemark_heap_origin origin;
        int32_t cycle, left_out;
        std::vector<Address> objects;  ///< outermost first
    };
    /// Nothing: nobody refers to it.
    std::optional<Chain> chain_to(Address target) const;

    size_t size() const { return objects_.size(); }

private:
    static constexpr uint32_t nobody = UINT32_MAX;
    struct Object {
        Address address;
        uint32_t referrer = nobody;  ///< the first that was found
        uint32_t referrers = 0;
    };

    static int meet(void* object, void* left) noexcept;
    std::vector<Address> cycle_through(uint32_t number) const;
    bool is_retained_by_others(std::span<const Address> cycle) const;

    const AddressSet& targets_;
    std::vector<Object> objects_;
    std::unordered_map<Address, uint32_t> numbers_;
    uint32_t asked_ = 0;  ///< while the references are collected
};

}  // namespace tidemark::heap
