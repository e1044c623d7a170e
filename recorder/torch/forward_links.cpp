// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/forward_links.h"

#include <array>
#include <atomic>
#include <cstdlib>

namespace tidemark::plugin {

namespace {

constexpr uint64_t remembered = uint64_t{1} << 20;
constexpr uint64_t most_threads = 4096;

struct Link {
    std::atomic<int64_t> sequence_plus_one;  ///< 0: empty, as initialized by calloc
    std::atomic<uint64_t> stack;
};

// One table per forward thread, created by the thread's first differentiable op. Never freed: nodes outlive threads.
// Untouched pages of a table take no memory.
std::array<std::atomic<Link*>, most_threads> tables{};

Link* table_of(uint64_t thread) {
    return thread < most_threads ? tables[thread].load(std::memory_order_acquire) : nullptr;
}

}  // namespace

void remember_forward_op(uint64_t thread, int64_t sequence, StackRef stack) {
    if (thread >= most_threads) {
        return;
    }
    Link* table = table_of(thread);
    if (table == nullptr) {
        table = static_cast<Link*>(std::calloc(remembered, sizeof(Link)));
        if (table == nullptr) {
            return;
        }
        tables[thread].store(table, std::memory_order_release);
    }
    Link& link = table[static_cast<uint64_t>(sequence) % remembered];
    link.stack.store(stack.packed(), std::memory_order_relaxed);
    link.sequence_plus_one.store(sequence + 1, std::memory_order_release);
}

StackRef forward_op(uint64_t thread, int64_t sequence) {
    const Link* table = table_of(thread);
    if (table == nullptr || sequence < 0) {
        return {};
    }
    const Link& link = table[static_cast<uint64_t>(sequence) % remembered];
    if (link.sequence_plus_one.load(std::memory_order_acquire) != sequence + 1) {
        return {};
    }
    return StackRef::unpacked(link.stack.load(std::memory_order_relaxed));
}

}  // namespace tidemark::plugin
