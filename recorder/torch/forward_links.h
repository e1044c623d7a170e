// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the Python stack of the forward op that made an autograd node.
//
// A node carries the value of its thread's sequence counter. The forward op sees the same value. Several ops may see
// one value, since only new nodes advance the counter: the last such op made the node. The forward thread writes, the
// backward thread reads; the engine's queue synchronizes them.
#pragma once

#include <cstdint>

namespace tidemark::plugin {

/// A stack in the namespace of the thread that defined it; id 0: none.
struct StackRef {
    uint32_t id = 0;
    uint16_t thread = 0;
};

/// `thread`: RecordFunction's thread id. Remembers the last 2^20 sequence numbers of each thread.
void remember_forward_op(uint64_t thread, int64_t sequence, StackRef stack);
StackRef forward_op(uint64_t thread, int64_t sequence);

}  // namespace tidemark::plugin
