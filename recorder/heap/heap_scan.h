// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Searches retention paths from roots to targets. Requires the interpreter lock; see heap.h.
//
// The program may run between two calls. Then stored addresses may belong to other objects, which wrongly count as
// visited, and the search may miss a path. A path never contains objects of an earlier call.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/heap/address_set.h"
#include "recorder/heap/deadline.h"
#include "recorder/heap/frame_locals.h"
#include "recorder/heap/heap.h"
#include "recorder/heap/object_kinds.h"
#include "recorder/heap/search_queue.h"

namespace tidemark::heap {

class HeapScan {
public:
    HeapScan(const FrameLayout& layout, IsSubtype is_subtype, const tidemark_heap_plan& plan);

    /// `longest_ns`: 0: any time.
    void search_from(std::span<const tidemark_heap_root> roots, int64_t longest_ns);
    void drop_unreferenced(std::span<const Address> objects);
    void search_unreachable(std::span<const Address> objects);

    size_t missing() const { return blocks_.size() > 0 ? blocks_missing_ : missing_ + left_to_note_; }
    size_t targets() const { return paths_.size(); }
    size_t objects() const { return objects_; }
    const tidemark_heap_path& path(size_t target) const { return paths_[target].description; }
    std::span<const Address> objects_of(size_t target) const { return paths_[target].objects; }

    /// Call count(object) for all objects of the paths found since the last call, or of all paths.
    void count_new_paths(CountReference count);
    void count_all_paths(CountReference count);

private:
    struct Node {
        Address object;
        uint32_t parent;  ///< index, or `root_flag | index into starts_`
        uint32_t depth;   ///< from the root
        uint32_t anchor;  ///< index of the last ancestor (or itself) that belongs to the part near the root
    };
    struct Start {
        int32_t root, variable;
    };
    struct Path {
        tidemark_heap_path description{};
        std::vector<Address> objects;
        bool is_missing = true;
    };
    static constexpr uint32_t root_flag = uint32_t{1} << 31;

    void enter(const tidemark_heap_root& root, int32_t number);
    void start(Address object, int32_t root, int32_t variable);
    void add(Address object, uint32_t parent);
    void note_target(Address object, uint32_t node);
    bool is_wanted(Address object);
    bool is_wanted_block(Address impl);
    bool notes(Address tensor, Address impl) const;
    void add_target(Address object);
    void expand(std::span<const tidemark_heap_root> roots);
    void expand_node(uint32_t node);
    bool is_late() const;
    void found(size_t target, uint32_t node);
    bool is_target(Address object) const { return targets_.contains(object); }
    void store(size_t target, tidemark_heap_path path, std::vector<Address> objects);
    static int visit(void* object, void* search) noexcept;

    const FrameLayout& layout_;
    ObjectKinds kinds_;
    AddressSet targets_, barriers_, visited_;
    AddressSet blocks_, blocks_found_, known_tensors_;
    uint64_t (*block_of_)(uint64_t impl);
    int (*notes_tensor_)(uint64_t impl);
    size_t left_to_note_;
    size_t impl_offset_;
    Deadline deadline_;
    std::unordered_map<Address, size_t> target_numbers_;
    std::vector<Path> paths_;  ///< by target
    std::vector<size_t> new_paths_;
    std::vector<Node> nodes_;  ///< of one call: the parent of each object
    std::vector<Start> starts_;
    SearchQueue queue_;                                 ///< of one call: `root_flag | index of a root`, or a node
    std::vector<std::pair<size_t, uint32_t>> reached_;  ///< targets of this call, and their nodes
    size_t missing_, blocks_missing_, objects_ = 0;
    uint32_t visiting_ = 0;
    int32_t roots_before_ = 0;
    bool out_of_memory_ = false;
};

}  // namespace tidemark::heap
