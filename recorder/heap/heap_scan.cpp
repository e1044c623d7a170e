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

HeapScan::HeapScan(const FrameLayout& layout, std::span<const Address> targets, std::span<const Address> barriers)
    : layout_(layout), paths_(targets.size()), missing_(targets.size()) {
    for (size_t i = 0; i < targets.size(); ++i) {
        targets_.insert(targets[i]);
        target_numbers_.emplace(targets[i], i);
    }
    for (const Address barrier : barriers) {
        barriers_.insert(barrier);
        visited_.insert(barrier);
    }
}

void HeapScan::search_from(std::span<const tidemark_heap_root> roots) {
    nodes_.clear();
    starts_.clear();
    reached_.clear();
    for (size_t i = 0; i < roots.size(); ++i) {
        enter(roots[i], roots_before_ + static_cast<int32_t>(i));
    }
    roots_before_ += static_cast<int32_t>(roots.size());
    expand();
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
        if (object != 0 && is_tracked(object) && visited_.insert(object)) {
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
    if (is_target(object)) {
        const size_t target = target_numbers_.at(object);
        if (paths_[target].is_missing) {
            paths_[target].is_missing = false;
            --missing_;
            reached_.emplace_back(target, number);
        }
    }
}

void HeapScan::expand() {
    for (visiting_ = 0; visiting_ < nodes_.size() && missing_ > 0; ++visiting_) {
        if (visiting_ + prefetched_objects < nodes_.size()) {
            __builtin_prefetch(reinterpret_cast<const void*>(nodes_[visiting_ + prefetched_objects].object));
        }
        for_each_child(nodes_[visiting_].object, visit, this);
        if (out_of_memory_) {
            throw std::bad_alloc();
        }
    }
    objects_ += visiting_;
}

int HeapScan::visit(void* object, void* context) noexcept {
    auto& scan = *static_cast<HeapScan*>(context);
    const auto address = reinterpret_cast<Address>(object);
    try {
        if (is_tracked(address) && scan.visited_.insert(address)) {
            scan.add(address, static_cast<uint32_t>(scan.visiting_));
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
    AddressSet referenced;
    Referenced marked{targets_, referenced};
    for (const Address object : objects) {
        if (!visited_.contains(object)) {  // the search knows the references of visited objects
            for_each_child(object, mark_target, &marked);
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
