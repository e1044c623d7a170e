// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/forward_links.h"

#include <array>
#include <atomic>

namespace tidemark::plugin {

namespace {

constexpr uint64_t remembered = uint64_t{1} << 20;

/// Two threads may write one link at the same time. Then the words do not fit, and the link is unknown.
struct Link {
    std::atomic<uint64_t> stack;
    std::atomic<uint64_t> key_and_stack;  ///< their exclusive or
};

// All threads share one table, so that a program that starts many does not grow. Untouched pages take no memory.
std::array<Link, remembered> links{};

/// A thread's id and its sequence numbers remain small. The key of nothing is 0: ids begin at 1.
uint64_t key_of(uint64_t thread, int64_t sequence) { return thread << 40 ^ static_cast<uint64_t>(sequence); }

/// The ops of one thread follow each other; those of another begin elsewhere.
Link& link_of(uint64_t thread, int64_t sequence) {
    return links[(thread * 0x9e3779b1u + static_cast<uint64_t>(sequence)) % remembered];
}

}  // namespace

void remember_forward_op(uint64_t thread, int64_t sequence, StackRef stack) {
    Link& link = link_of(thread, sequence);
    link.stack.store(stack.packed(), std::memory_order_relaxed);
    link.key_and_stack.store(key_of(thread, sequence) ^ stack.packed(), std::memory_order_release);
}

StackRef forward_op(uint64_t thread, int64_t sequence) {
    if (thread == 0 || sequence < 0) {
        return {};
    }
    const Link& link = link_of(thread, sequence);
    const uint64_t both = link.key_and_stack.load(std::memory_order_acquire);
    const uint64_t stack = link.stack.load(std::memory_order_relaxed);
    return (both ^ stack) == key_of(thread, sequence) ? StackRef::unpacked(stack) : StackRef{};
}

}  // namespace tidemark::plugin
