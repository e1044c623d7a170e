// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/collector_walk.h"

namespace tidemark::heap {

namespace {

// A header of the collector (PyGC_Head) precedes each object: the next and the previous header, with flags in the low
// bits. The heads of the lists of the three generations, each of 24 bytes, are part of the interpreter's state, so no
// object lies near them.
constexpr size_t header_size = 16, header_next = 0, header_previous = 8;
constexpr size_t size_of_generation = 24, generations = 3;
constexpr size_t state_near_heads = 1024;
constexpr Address without_flags = ~Address{3};

constexpr size_t headers_between_clock_reads = 64;
constexpr size_t most_objects_after_time = 512;  ///< to find one that may wait
constexpr size_t objects_checked = 100;

Address next_of(Address header) { return read(header, header_next) & without_flags; }
Address previous_of(Address header) { return read(header, header_previous) & without_flags; }
Address object_of(Address header) { return header + header_size; }

Address head_of_youngest(const CollectorWalk::Python& python) {
    void* newest = python.new_list(0);
    if (newest == nullptr) {
        return 0;
    }
    const Address head = next_of(reinterpret_cast<Address>(newest) - header_size);
    python.count_down(newest);
    return head;
}

bool is_list(Address head) {
    Address node = head;
    for (size_t i = 0; i < objects_checked && (i == 0 || node != head); ++i) {
        const Address next = next_of(node);
        if (next == 0 || previous_of(next) != node) {
            return false;
        }
        node = next;
    }
    return true;
}

}  // namespace

bool CollectorWalk::can_walk(const Python& python) {
    const Address youngest = head_of_youngest(python);
    for (size_t i = 0; i < generations; ++i) {
        if (youngest == 0 || !is_list(youngest + i * size_of_generation)) {
            return false;
        }
    }
    return true;
}

CollectorWalk::CollectorWalk(const Python& python) : python_(python), youngest_(head_of_youngest(python)) {}

CollectorWalk::~CollectorWalk() {
    if (node_ != 0) {
        python_.count_down(reinterpret_cast<void*>(object_of(node_)));
    }
}

CollectorWalk::End CollectorWalk::next_part(const Deadline& deadline, const std::function<void(Address)>& visit) {
    const Address waited = node_;
    const Address oldest = youngest_ + (generations - 1) * size_of_generation;
    if (waited == 0) {
        node_ = oldest;
    }
    End end = walk_list(oldest, deadline, visit);
    // The younger lists are short, and their objects move to the oldest one: all belong to one part.
    for (size_t i = generations - 1; end == End::done && i-- > 0;) {
        node_ = youngest_ + i * size_of_generation;
        end = walk_list(node_, Deadline(), visit);
    }
    if (end != End::late) {
        node_ = 0;
    } else {
        python_.count_up(reinterpret_cast<void*>(object_of(node_)));
    }
    if (waited != 0) {
        python_.count_down(reinterpret_cast<void*>(object_of(waited)));
    }
    return end;
}

/// Visits the objects behind `node_`. The end is `late` at an object that may wait.
CollectorWalk::End CollectorWalk::walk_list(Address head, const Deadline& deadline,
                                            const std::function<void(Address)>& visit) {
    size_t after_time = 0;
    for (size_t visited = 1;; ++visited) {
        const Address next = next_of(node_);
        if (next == head) {
            return End::done;
        }
        const bool is_other_head = next - youngest_ < state_near_heads;
        if (next == 0 || is_other_head || previous_of(next) != node_) {
            return End::changed;
        }
        node_ = next;
        visit(object_of(node_));
        const bool is_late = after_time > 0 || (visited % headers_between_clock_reads == 0 && deadline.is_over());
        if (is_late && may_wait(object_of(node_), ++after_time)) {
            return End::late;
        }
    }
}

/// Returns whether the walk can retain the object until the next part: a function, which retains no tensors as a rule;
/// if there is none for a while, any object but a tuple, since Python resizes tuples in place while they have one
/// owner.
bool CollectorWalk::may_wait(Address object, size_t objects_after_time) const {
    return read(object, object_type) == python_.function_type ||
           (objects_after_time > most_objects_after_time && !is_tuple(object));
}

}  // namespace tidemark::heap
