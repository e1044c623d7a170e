// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/stack_cache.h"

#include "storage/import/hash_seed.h"

namespace tidemark {
namespace {

bool holds(const StackTable& table, StackId id, std::span<const FrameId> frames) {
    for (const FrameId frame : frames) {
        const StackEntry& entry = table.stack(id);
        if (id == 0 || entry.frame != frame) {
            return false;
        }
        id = entry.caller;
    }
    return id == 0;
}

}  // namespace

StackCache::StackCache() : seed_(hash_seed()), slots_(1024) {}

StackId StackCache::intern(StackTable& table, std::span<const FrameId> innermost_first) {
    uint64_t hash = seed_;
    for (const FrameId frame : innermost_first) {
        hash = mix_hash(frame, hash);
    }
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    for (; slots_[at].stack != 0; at = (at + 1) & mask) {
        if (slots_[at].hash == hash && holds(table, slots_[at].stack, innermost_first)) {
            return slots_[at].stack;
        }
    }
    const StackId stack = table.intern_stack(innermost_first);
    if (stack != 0) {
        slots_[at] = {hash, stack};
        if (++used_ * 2 > slots_.size()) {
            grow();
        }
    }
    return stack;
}

void StackCache::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.stack == 0) {
            continue;
        }
        size_t at = slot.hash & mask;
        while (slots_[at].stack != 0) {
            at = (at + 1) & mask;
        }
        slots_[at] = slot;
    }
}

}  // namespace tidemark
