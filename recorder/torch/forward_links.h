// From an autograd node to the Python stack of the forward op that made it.
//
// A node carries the sequence number its thread's counter had when it was made; the forward op saw the same number.
// Several ops may see one number (the counter moves only when a node is made): the latest is the node's maker.
// Written by the forward thread, read by the backward thread, which the engine's queue has synchronised with it.
#pragma once

#include <cstdint>

namespace tidemark::plugin {

/// A stack in the namespace of the thread that defined it; id 0: none.
struct StackRef {
    uint32_t id = 0;
    uint16_t thread = 0;
};

/// `thread` as RecordFunction numbers threads. The last 2^20 numbers of a thread are remembered.
void remember_forward_op(uint64_t thread, int64_t sequence, StackRef stack);
StackRef forward_op(uint64_t thread, int64_t sequence);

}  // namespace tidemark::plugin
