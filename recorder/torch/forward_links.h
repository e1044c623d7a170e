// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the Python stack of the forward op that created an autograd node.
//
// A node stores the value of its thread's sequence counter, which the forward op also gets. Only new nodes advance the
// counter, so several ops may get one value; the last of them created the node. The forward thread writes, the backward
// thread reads; the engine's queue synchronizes them.
#pragma once

#include <cstdint>

namespace tidemark::plugin {

/// A stack in the namespace of the thread that defined it; id 0: none.
struct StackRef {
    uint32_t id = 0;
    uint16_t thread = 0;
    uint16_t lines = 0;  ///< hash of its lines; see tidemark_api::stack

    uint64_t packed() const { return uint64_t{lines} << 48 | uint64_t{thread} << 32 | id; }
    static StackRef unpacked(uint64_t stack) {
        return {static_cast<uint32_t>(stack), static_cast<uint16_t>(stack >> 32), static_cast<uint16_t>(stack >> 48)};
    }
};

/// Stores the stack of a forward op. `thread`: RecordFunction's thread id, from 1 on. About the last 2^20 sequence
/// numbers of all threads together are stored.
void remember_forward_op(uint64_t thread, int64_t sequence, StackRef stack);
/// Returns the stack of the forward op; id 0: unknown.
StackRef forward_op(uint64_t thread, int64_t sequence);

}  // namespace tidemark::plugin
