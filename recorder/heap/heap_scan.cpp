// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/heap_scan.h"

#include <algorithm>
#include <new>

#include "recorder/heap/unreachable.h"

namespace tidemark::heap {

namespace {

constexpr size_t prefetched_objects = 6;
constexpr uint32_t longest_path = 2 * TIDEMARK_HEAP_NEAR_ROOT;
constexpr size_t objects_between_clock_reads = 256;

std::span<const Address> span_of(const uint64_t* first, int64_t count) { return {first, static_cast<size_t>(count)}; }

struct Referenced {
    const AddressSet& targets;
    AddressSet& referenced;
    bool out_of_memory = false;
};

int mark_target(void* object, void* context) noexcept {
    auto& marked = *static_cast<Referenced*>(context);
    const auto address = reinterpret_cast<Address>(object);
    try {
        if (marked.targets.contains(address)) {
            marked.referenced.insert(address);
        }
    } catch (const std::bad_alloc&) {  // an exception must not pass through Python's code
        marked.out_of_memory = true;
    }
    return marked.out_of_memory;
}

}  // namespace

HeapScan::HeapScan(const FrameLayout& layout, IsSubtype is_subtype, const tidemark_heap_plan& plan)
    : layout_(layout),
      kinds_(is_subtype, {plan.types, static_cast<size_t>(plan.type_count)}, plan.tensor_type),
      block_of_(reinterpret_cast<uint64_t (*)(uint64_t)>(plan.block_of)),
      notes_tensor_(reinterpret_cast<int (*)(uint64_t)>(plan.notes_tensor)),
      left_to_note_(static_cast<size_t>(plan.most_noted)),
      impl_offset_(static_cast<size_t>(plan.impl_offset)),
      missing_(0) {
    for (const Address target : span_of(plan.targets, plan.target_count)) {
        add_target(target);
        ++missing_;
    }
    for (const Address block : span_of(plan.blocks, plan.block_count)) {
        blocks_.insert(block);
    }
    blocks_missing_ = blocks_.size();
    for (const Address tensor : span_of(plan.known_tensors, plan.known_tensor_count)) {
        known_tensors_.insert(tensor);
    }
    for (const Address barrier : span_of(plan.barriers, plan.barrier_count)) {
        barriers_.insert(barrier);
        visited_.insert(barrier);
    }
}

void HeapScan::add_target(Address object) {
    targets_.insert(object);
    target_numbers_.emplace(object, paths_.size());
    paths_.emplace_back();
}

void HeapScan::search_from(std::span<const tidemark_heap_root> roots, int64_t longest_ns) {
    deadline_ = longest_ns == 0 ? Deadline() : Deadline(longest_ns);
    nodes_.clear();
    starts_.clear();
    reached_.clear();
    expand(roots);
    roots_before_ += static_cast<int32_t>(roots.size());
    for (const auto& [target, node] : reached_) {
        found(target, node);
    }
}

void HeapScan::enter(const tidemark_heap_root& root, int32_t number) {
    if (root.variables < 0) {
        if (barriers_.contains(root.object) || visited_.insert(root.object)) {
            start(root.object, number, -1);
        }
        return;
    }
    const Address variables = variables_of(layout_, root.object);
    for (int32_t i = 0; i < root.variables; ++i) {
        const Address object = value_at(layout_, variables, static_cast<size_t>(i));
        if (object != 0 && (is_tracked(object) || kinds_.of(object).reference != 0) && visited_.insert(object)) {
            start(object, number, i);
        }
    }
}

void HeapScan::start(Address object, int32_t root, int32_t variable) {
    starts_.push_back({root, variable});
    add(object, root_flag | static_cast<uint32_t>(starts_.size() - 1));
}

void HeapScan::add(Address object, uint32_t parent) {
    const auto number = static_cast<uint32_t>(nodes_.size());
    const bool is_start = (parent & root_flag) != 0;
    const uint32_t depth = is_start ? 0 : nodes_[parent].depth + 1;
    nodes_.push_back({object, parent, depth, depth < TIDEMARK_HEAP_NEAR_ROOT ? number : nodes_[parent].anchor});
    // The distance depends on the object only, not on the reference, so the first path found is the nearest.
    queue_.push(number, queue_.distance() + kinds_.of(object).distance);
    note_target(object, number);
}

void HeapScan::note_target(Address object, uint32_t node) {
    if (!is_target(object) && is_wanted(object)) {
        add_target(object);
        ++missing_;
    }
    if (is_target(object)) {
        const size_t target = target_numbers_.at(object);
        if (paths_[target].is_missing) {
            paths_[target].is_missing = false;
            --missing_;
            reached_.emplace_back(target, node);
        }
    }
}

/// Returns whether the search recognizes the object as a target.
bool HeapScan::is_wanted(Address object) {
    const ObjectKind& kind = kinds_.of(object);
    const Address impl = kind.is_tensor ? read(object, impl_offset_) : 0;
    if (impl != 0 && blocks_missing_ > 0 && is_wanted_block(impl)) {
        return true;
    }
    const bool is_noted =
        left_to_note_ > 0 && (kind.is_noted || (impl != 0 && notes_tensor_ != nullptr && notes(object, impl)));
    left_to_note_ -= is_noted;
    return is_noted;
}

/// Returns whether this is the first tensor found for a wanted block.
bool HeapScan::is_wanted_block(Address impl) {
    const uint64_t block = block_of_(impl);
    const bool is_first = block != 0 && blocks_.contains(block) && blocks_found_.insert(block);
    blocks_missing_ -= is_first;
    return is_first;
}

bool HeapScan::notes(Address tensor, Address impl) const {
    return !known_tensors_.contains(tensor) && notes_tensor_(impl) != 0;
}

void HeapScan::expand(std::span<const tidemark_heap_root> roots) {
    queue_ = {};
    for (size_t i = 0; i < roots.size(); ++i) {
        queue_.push(root_flag | static_cast<uint32_t>(i), static_cast<uint32_t>(roots[i].distance));
    }
    while (!queue_.empty() && missing() > 0 && !is_late()) {
        const uint32_t next = queue_.pop();
        if ((next & root_flag) != 0) {
            const uint32_t root = next & ~root_flag;
            enter(roots[root], roots_before_ + static_cast<int32_t>(root));
        } else {
            expand_node(next);
        }
        if (out_of_memory_) {
            throw std::bad_alloc();
        }
    }
}

void HeapScan::expand_node(uint32_t node) {
    if (!queue_.empty()) {
        const uint32_t ahead = queue_.ahead(prefetched_objects);
        if ((ahead & root_flag) == 0) {
            __builtin_prefetch(reinterpret_cast<const void*>(nodes_[ahead].object));
        }
    }
    visiting_ = node;
    ++objects_;
    const Address object = nodes_[node].object;
    if (const size_t reference = kinds_.of(object).reference; reference != 0) {
        if (void* child = read<void*>(object, reference)) {
            visit(child, this);
        }
    } else {
        for_each_child(object, visit, this);
    }
}

bool HeapScan::is_late() const { return objects_ % objects_between_clock_reads == 0 && deadline_.is_over(); }

int HeapScan::visit(void* object, void* context) noexcept {
    auto& scan = *static_cast<HeapScan*>(context);
    const auto address = reinterpret_cast<Address>(object);
    try {
        const ObjectKind& kind = scan.kinds_.of(address);
        // Most objects of a module are empty tables of hooks.
        const bool is_empty = kind.is_plain_container && read(address, container_size) == 0;
        if (!is_empty && (is_tracked(address) || kind.reference != 0) && scan.visited_.insert(address)) {
            scan.add(address, scan.visiting_);
        }
    } catch (const std::bad_alloc&) {  // an exception must not pass through Python's code
        scan.out_of_memory_ = true;
    }
    return scan.out_of_memory_;
}

void HeapScan::found(size_t target, uint32_t node) {
    std::vector<Address> objects;
    const uint32_t depth = nodes_[node].depth;
    const uint32_t omitted = depth < longest_path ? 0 : depth + 1 - longest_path;
    const uint32_t below = omitted == 0 ? 0 : longest_path - TIDEMARK_HEAP_NEAR_ROOT;
    for (uint32_t i = 0; i < below; ++i, node = nodes_[node].parent) {
        objects.push_back(nodes_[node].object);
    }
    if (omitted > 0) {
        node = nodes_[node].anchor;
    }
    for (; (nodes_[node].parent & root_flag) == 0; node = nodes_[node].parent) {
        objects.push_back(nodes_[node].object);
    }
    objects.push_back(nodes_[node].object);
    const Start& start = starts_[nodes_[node].parent & ~root_flag];
    std::reverse(objects.begin(), objects.end());
    store(target, {TIDEMARK_HEAP_ROOT, start.root, start.variable, 0, static_cast<int32_t>(omitted), 0},
          std::move(objects));
}

void HeapScan::store(size_t target, tidemark_heap_path path, std::vector<Address> objects) {
    path.length = static_cast<int32_t>(objects.size());
    paths_[target].description = path;
    paths_[target].objects = std::move(objects);
    new_paths_.push_back(target);
}

void HeapScan::drop_unreferenced(std::span<const Address> objects) {
    AddressSet missing, referenced;
    for (const auto& [address, target] : target_numbers_) {
        if (paths_[target].is_missing) {
            missing.insert(address);
        }
    }
    Referenced marked{missing, referenced};
    // The newest objects are the last ones, and more likely to refer to a target.
    for (auto object = objects.rbegin(); object != objects.rend() && referenced.size() < missing.size(); ++object) {
        if (!visited_.contains(*object)) {  // the search knows the references of visited objects
            for_each_child(*object, mark_target, &marked);
            ++objects_;
        }
    }
    if (marked.out_of_memory) {
        throw std::bad_alloc();
    }
    for (const auto& [address, target] : target_numbers_) {
        if (paths_[target].is_missing && !referenced.contains(address)) {
            paths_[target].is_missing = false;
            --missing_;
        }
    }
}

void HeapScan::search_unreachable(std::span<const Address> objects) {
    const UnreachableObjects unreachable(objects, visited_, targets_);
    for (const auto& [address, target] : target_numbers_) {
        if (paths_[target].is_missing) {
            if (auto path = unreachable.path_to(address)) {
                paths_[target].is_missing = false;
                --missing_;
                store(target, {path->start, 0, -1, path->cycle_length, path->omitted, 0}, std::move(path->objects));
            }
        }
    }
    objects_ += unreachable.size();
}

void HeapScan::count_new_paths(CountReference count) {
    for (const size_t target : new_paths_) {
        for (const Address object : paths_[target].objects) {
            count(reinterpret_cast<void*>(object));
        }
    }
    new_paths_.clear();
}

void HeapScan::count_all_paths(CountReference count) {
    for (const Path& path : paths_) {
        for (const Address object : path.objects) {
            count(reinterpret_cast<void*>(object));
        }
    }
}

}  // namespace tidemark::heap
