// A search for chains of references from roots to targets. Called with the interpreter's lock; see heap.h.
//
// Between two calls the program may run: what the search remembers of addresses then may be of other objects. That only
// costs chains (an object counts as seen that is not); a chain never leads through objects of an earlier call.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/heap/address_set.h"
#include "recorder/heap/frame_locals.h"
#include "recorder/heap/heap.h"

namespace tidemark::heap {

/// Py_IncRef or Py_DecRef.
using CountReference = void (*)(void* object);

class Search {
public:
    Search(const FrameLayout& layout, std::span<const Address> targets, std::span<const Address> barriers);

    void from(std::span<const tidemark_heap_root> roots);
    void give_up_unreferred(std::span<const Address> objects);
    void leftovers(std::span<const Address> objects);

    size_t missing() const { return missing_; }
    size_t objects() const { return objects_; }
    const tidemark_heap_chain& chain(size_t target) const { return chains_[target].about; }
    std::span<const Address> objects_of(size_t target) const { return chains_[target].objects; }

    /// Counts references to all objects of the chains found since the last call, or of all.
    void for_new_chains(CountReference count);
    void for_all_chains(CountReference count);

private:
    struct Node {
        Address object;
        uint32_t parent;  ///< index, or `root_flag | index into starts_`
        uint32_t depth;   ///< from the root
        uint32_t anchor;  ///< index of the ancestor (or itself) where the part of a chain that is near the root ends
    };
    struct Start {
        int32_t root, variable;
    };
    struct Chain {
        tidemark_heap_chain about{};
        std::vector<Address> objects;
        bool wanted = true;
    };
    static constexpr uint32_t root_flag = uint32_t{1} << 31;

    void enter(const tidemark_heap_root& root, int32_t number);
    void start(Address object, int32_t root, int32_t variable);
    void add(Address object, uint32_t parent);
    void expand();
    void found(size_t target, uint32_t node);
    bool wants(Address object) const { return targets_.contains(object); }
    void keep(size_t target, tidemark_heap_chain about, std::vector<Address> objects);
    static int meet(void* object, void* search) noexcept;

    const FrameLayout& layout_;
    AddressSet targets_, barriers_, seen_;
    std::unordered_map<Address, size_t> target_numbers_;
    std::vector<Chain> chains_;  ///< by target
    std::vector<size_t> new_chains_;
    std::vector<Node> nodes_;  ///< of one call: the queue, and how each was reached
    std::vector<Start> starts_;
    std::vector<std::pair<size_t, uint32_t>> reached_;  ///< targets of this call, and their nodes
    size_t missing_, objects_ = 0, expanding_ = 0;
    int32_t roots_before_ = 0;
    bool out_of_memory_ = false;
};

}  // namespace tidemark::heap
