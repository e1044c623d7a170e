// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/lifetimes.h"

namespace tidemark {

void Lifetimes::store_row(Lifetime& lifetime, int64_t row_id, const AllocationRow& row) {
    lifetime.has_row = true;
    if (unused_rows_.empty()) {
        lifetime.place = rows_.size() & last_place;
        rows_.emplace_back(row_id, row);
        return;
    }
    lifetime.place = unused_rows_.back();
    rows_[lifetime.place] = {row_id, row};
    unused_rows_.pop_back();
}

AllocationRow& Lifetimes::touch(Id id) {
    Lifetime& lifetime = all_[id];
    if (!lifetime.is_touched) {
        lifetime.is_touched = true;
        touched_.push_back(id);
    }
    if (!lifetime.has_row) {
        AllocationRow row;
        row.lifetime.alloc_event = alloc_event(id);
        store_row(lifetime, row_id(id), row);
    }
    return rows_[lifetime.place].second;
}

Lifetimes::Id Lifetimes::add(int64_t row_id, const AllocationRow& row) {
    auto id = static_cast<Id>(all_.size());
    if (unused_.empty()) {
        all_.emplace_back();
    } else {
        id = unused_.back();
        unused_.pop_back();
    }
    all_[id] = {};
    store_row(all_[id], row_id, row);
    touch(id);
    return id;
}

void Lifetimes::free_requested(Id id, FileEvent event, int64_t time, StackId stack) {
    AllocationRow& row = touch(id);
    row.lifetime.free_event = event;
    row.lifetime.free_stack = stack;
    row.free_time = time;
}

void Lifetimes::free_completed(Id id, FileEvent event, int64_t time) {
    AllocationRow& row = touch(id);
    row.lifetime.free_completed = event;
    row.free_completed_time = time;
    all_[id].is_over = true;
}

FileEvent Lifetimes::free_event(Id id) const {
    const Lifetime& lifetime = all_[id];
    return lifetime.has_row ? rows_[lifetime.place].second.lifetime.free_event : never_in_file;
}

}  // namespace tidemark
