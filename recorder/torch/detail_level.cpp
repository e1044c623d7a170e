// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/detail_level.h"

#include <atomic>
#include <mutex>

namespace tidemark::plugin {

namespace {

std::atomic<bool> has_details{true};
std::atomic<uint64_t> needs{0};

// The lock is never held while GPU memory is allocated, so a thread that holds an allocator lock may take it.
std::mutex switching;
void (*observer)(bool details) = nullptr;

void switch_to(bool details) {
    const std::lock_guard lock(switching);
    if (observer != nullptr && has_details.exchange(details, std::memory_order_acq_rel) != details) {
        observer(details);
    }
}

}  // namespace

bool records_details() { return has_details.load(std::memory_order_relaxed); }

void begin_with_details(void (*observe)(bool details)) {
    switch_to(true);
    const std::lock_guard lock(switching);
    observer = observe;
}

void need_details() { needs.fetch_add(1, std::memory_order_relaxed); }
uint64_t times_details_were_needed() { return needs.load(std::memory_order_relaxed); }

void omit_details() { switch_to(false); }
void resume_details() { switch_to(true); }

}  // namespace tidemark::plugin
