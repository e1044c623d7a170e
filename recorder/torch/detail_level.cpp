// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/detail_level.h"

#include <atomic>
#include <mutex>

namespace tidemark::plugin {

namespace {

std::atomic<bool> has_details{true}, is_paused{false}, was_paused{false};
std::atomic<uint64_t> needs{0};

// The lock is never held while GPU memory is allocated, so a thread that holds an allocator lock may take it.
std::mutex switching;
void (*observer)(bool details) = nullptr;

/// Requires the lock.
void switch_to(bool details) {
    if (observer != nullptr && has_details.exchange(details, std::memory_order_acq_rel) != details) {
        observer(details);
    }
}

/// In a pause, steps are neither light nor do they get details.
void switch_unless_paused(bool details) {
    const std::lock_guard lock(switching);
    if (!is_paused.load(std::memory_order_relaxed)) {
        switch_to(details);
    }
}

}  // namespace

bool records_details() { return has_details.load(std::memory_order_relaxed); }
bool are_details_paused() { return is_paused.load(std::memory_order_relaxed); }
bool were_details_paused() { return was_paused.load(std::memory_order_relaxed); }

void begin_with_details(void (*observe)(bool details)) {
    const std::lock_guard lock(switching);
    is_paused.store(false, std::memory_order_relaxed);
    was_paused.store(false, std::memory_order_relaxed);
    switch_to(true);
    observer = observe;
}

void set_details_paused(bool pause) {
    const std::lock_guard lock(switching);
    if (observer != nullptr && is_paused.exchange(pause, std::memory_order_acq_rel) != pause) {
        was_paused.store(true, std::memory_order_relaxed);
        switch_to(!pause);
    }
}

void need_details() { needs.fetch_add(1, std::memory_order_relaxed); }
uint64_t times_details_were_needed() { return needs.load(std::memory_order_relaxed); }

void omit_details() { switch_unless_paused(false); }
void resume_details() { switch_unless_paused(true); }

}  // namespace tidemark::plugin
