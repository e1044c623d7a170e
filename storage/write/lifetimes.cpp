// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/write/lifetimes.h"

namespace tidemark {

uint32_t Lifetimes::store(const AllocationRow& row) {
    if (unused_rows_.empty()) {
        rows_.push_back(row);
        return static_cast<uint32_t>(rows_.size() - 1);
    }
    const uint32_t index = unused_rows_.back();
    unused_rows_.pop_back();
    rows_[index] = row;
    return index;
}

AllocationRow& Lifetimes::touch(Id id) {
    Lifetime& lifetime = all_[id];
    if (!std::exchange(lifetime.is_touched, true)) {
        touched_.push_back(id);
    }
    if (lifetime.row == no_row) {
        AllocationRow row;
        row.lifetime.alloc_event = alloc_event_of(lifetime.row_id);
        lifetime.row = store(row);
    }
    return rows_[lifetime.row];
}

Lifetimes::Id Lifetimes::add(int64_t row_id, const AllocationRow& row) {
    auto id = static_cast<Id>(all_.size());
    if (unused_.empty()) {
        all_.emplace_back();
    } else {
        id = unused_.back();
        unused_.pop_back();
    }
    all_[id] = {row_id, store(row)};
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
    const uint32_t row = all_[id].row;
    return row == no_row ? never_in_file : rows_[row].lifetime.free_event;
}

}  // namespace tidemark
