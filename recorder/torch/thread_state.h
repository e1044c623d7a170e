// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The plugin's state of the calling thread: its ring, its open ops, its phase.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/core/callback_cost.h"
#include "recorder/torch/forward_links.h"
#include "recorder/torch/op_memory.h"
#include "recorder/torch/op_paths.h"
#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// Returns core's functions; nullptr before the first attach.
const tidemark_api* core();
void set_core(const tidemark_api* api);

/// The bit of a stack id that marks stacks with a torch.nn.Module in them (frames/walker.h).
constexpr uint32_t stack_has_module = 1;

/// A node that the engine executes. `variable`: the tensor whose gradient an AccumulateGrad node sets.
struct ExecutedNode {
    uint32_t number = 0;
    WeakTensor variable{StrongTensor()};
};

class ThreadState {
public:
    /// Returns the state of the calling thread. It is never destroyed, because memory is freed after a thread's
    /// destructors have run.
    static ThreadState& here();

    /// Returns this thread's ring in the current recording, or nullptr. Clears the ids of an earlier ring. Every call
    /// from PyTorch calls this first.
    tidemark_ring* ring();

    /// Begins or ends an op, a node or a named range. They nest.
    void enter_op(const char* name, uint8_t scope);
    void leave_op();
    uint32_t current_op() const { return current_; }
    /// Returns whether the current op was called by the program or by a node, not by another op.
    bool in_outermost_op() const { return !open_.empty() && open_.back().is_outermost; }
    OpMemory& op_memory() { return op_memory_; }

    /// Returns the stack that called the outermost op. C++ calls the ops inside an op, so their Python stack is the
    /// same.
    StackRef caller_of_op();

    /// Begins the execution of a node. `forward_stack`: that of the op that created it.
    void enter_node(StackRef forward_stack);
    void leave_evaluation();
    bool is_evaluating() const { return evaluations_ > 0; }
    /// Returns whether the node's own ops run, not Python code that it calls, such as a recomputed forward pass.
    bool is_in_derivative();
    /// Handles the start of a tagged node's execution. Records the node when its evaluation ends.
    void node_executes(const ExecutedNode& node);

    /// Returns the stack for memory that is allocated or freed now: the Python stack of this thread. On a backward
    /// thread without Python frames: the stack of the forward op or, if unknown, of the call that started the pass.
    StackRef attributed_stack();
    uint8_t phase(StackRef stack) const;
    /// Returns whether the program may be in this phase now, as far as it has named its phase.
    bool may_be_in(uint8_t phase) const;

    /// Returns the id of an allocator pool on this thread; 0: the default pool.
    uint16_t pool(int64_t first, int64_t second);

    bool in_optimizer = false;
    recorder::CallbackCost cost;

private:
    struct OpenOp {
        uint32_t previous;
        bool is_evaluation;  ///< the engine's op around a node and the sums of its gradients
        bool is_outermost;
        bool was_in_op;
        ExecutedNode executed;  ///< in that evaluation
    };
    struct Pool {
        int64_t first, second;
    };

    StackRef own_stack();

    tidemark_ring* ring_ = nullptr;
    uint16_t serial_ = 0;
    uint32_t current_ = 0;
    int evaluations_ = 0;
    bool in_op_ = false;  ///< inside an op that PyTorch's dispatcher called, below any node
    OpMemory op_memory_;
    StackRef op_caller_;  ///< cached by caller_of_op() while an op is open
    StackRef node_stack_;
    uint32_t stack_at_node_ = 0;
    OpPaths paths_;
    std::vector<OpenOp> open_;
    std::vector<Pool> pools_;
};

/// Measures one callback from PyTorch, from its begin to the end of this object's scope.
class MeasuredCallback {
public:
    explicit MeasuredCallback(ThreadState& state) : state_(state) { state_.cost.enter(); }
    MeasuredCallback(const MeasuredCallback&) = delete;
    MeasuredCallback& operator=(const MeasuredCallback&) = delete;
    ~MeasuredCallback();

private:
    ThreadState& state_;
};

/// Sends what the callbacks of this thread have cost since the last time, if it is known.
void send_cost(ThreadState& state);

/// Sets the user's phase for the whole process; 0: none.
void set_named_phase(uint32_t phase);
/// Stores the stack of this thread, which starts a backward pass.
void remember_backward_call();

}  // namespace tidemark::plugin
