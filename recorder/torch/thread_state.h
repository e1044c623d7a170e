// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The plugin's state of the calling thread: its ring, its open ops, its phase.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "recorder/core/callback_cost.h"
#include "recorder/torch/forward_links.h"
#include "recorder/torch/forward_nodes.h"
#include "recorder/torch/learned_ops.h"
#include "recorder/torch/light_steps.h"
#include "recorder/torch/op_memory.h"
#include "recorder/torch/op_paths.h"
#include "recorder/torch/repeated_work.h"
#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// Returns core's functions; nullptr before the first attach.
const tidemark_api* core();
void set_core(const tidemark_api* api);

/// The bit of a stack id that marks stacks with a torch.nn.Module in them (frames/walker.h).
constexpr uint32_t stack_has_module = 1;

/// Returns the node that the engine executes on this thread, or nullptr. Nodes nest: this is the innermost one.
torch::autograd::Node* executing_node();

/// A node that the engine executes.
struct ExecutedNode {
    uint32_t number = 0;
    int pass = 0;                         ///< the engine's number of the backward pass
    bool retains_graph = false;           ///< that pass; node_executes() sets it
    WeakTensor variable{StrongTensor()};  ///< whose gradient an AccumulateGrad node sets
};

/// Where an event happens, and what is known of it by its op.
struct EventOp {
    uint32_t op = 0;
    uint8_t category = TIDEMARK_CATEGORY_NONE;  ///< which the allocated memory gets now; else the op gives it, or none
    PlaceKeys place;
};

/// What runs on a thread.
struct Caller {
    StackRef stack;              ///< for memory that is allocated or freed now; see ThreadState::caller()
    bool is_evaluating = false;  ///< the engine executes a node, or sums its gradients
    const torch::autograd::Node* derivative = nullptr;  ///< that node; nullptr while Python code runs inside
};

class ThreadState {
public:
    /// Returns the state of the calling thread, also after its destructors have run: they free memory.
    static ThreadState& here();

    /// Returns this thread's ring in the current recording, or nullptr. Forgets the ids of an earlier ring, and what
    /// was open. Every call from PyTorch calls this first.
    tidemark_ring* ring() {
        tidemark_ring* ring = core()->this_thread();
        if (ring != ring_ || (ring != nullptr && ring->serial != serial_)) {
            begin_ring(ring);
        }
        return ring;
    }

    /// Begins or ends an observed op or node. They nest.
    void enter_op(const char* name, uint8_t scope);
    void leave_op();
    uint32_t current_op() const { return current_; }
    /// Returns the op of an event of this action. If ops are not observed now (repeated_work.h), it is the one that the
    /// event at the same place had, or else the node.
    EventOp op_of_event(uint8_t action, const Caller& caller);
    /// Stores the category of memory that an observed op allocated at this place.
    void learn_category(const PlaceKeys& place, uint8_t category) { learned_ops_.label(place, category); }
    /// Returns whether an observed op or node runs.
    bool is_in_op() const { return !open_.empty(); }
    /// Returns whether the current op was called by the program or by a node, not by another op.
    bool in_outermost_op() const { return !open_.empty() && open_.back().is_outermost; }
    OpMemory& op_memory() { return op_memory_; }
    /// Whether the results of ops inside ops are read on this thread: see report_results().
    bool reads_inner_results() const { return reads_inner_results_; }
    void read_inner_results() { reads_inner_results_ = true; }

    /// Returns the stack that called the outermost op. C++ calls the ops inside an op, so their Python stack is the
    /// same.
    StackRef caller_of_op();

    /// Begins the execution of a node, after ring(). May be called twice.
    void enter_node();
    /// Returns whether the node's own ops run, not Python code that it calls, such as a recomputed forward pass.
    bool is_in_derivative() { return executing_node() != nullptr && caller().derivative != nullptr; }
    /// Handles the start of a tagged node's execution, on this thread. Records it in the ring when the next node begins
    /// on this thread, or when the pass ends.
    void node_executes(ExecutedNode node, tidemark_ring* ring);
    /// Records the nodes that no other node followed. Any thread may call, when no backward pass runs.
    void report_executed_nodes();

    /// Returns the hash of the lines of this thread's Python stack; 0: it has none.
    uint16_t lines_here() { return own_stack().lines; }
    /// Returns what runs now. Its stack is the Python stack of this thread. On a backward thread without Python
    /// frames, it is that of the forward op or, if unknown, of the call that started the pass.
    Caller caller();
    uint8_t phase(const Caller& caller) const;
    /// Returns whether the program may be in this phase now, as far as it has named its phase.
    bool may_be_in(uint8_t phase) const;

    /// Returns the id of an allocator pool on this thread; 0: the default pool.
    uint16_t pool(int64_t first, int64_t second);

    /// Begins the forward pass of a step on this thread. `keeps_nodes`: its nodes are to be found without their ops.
    /// Returns false if that has begun already: a step can be reported twice.
    bool begin_forward(bool keeps_nodes);
    /// Notes an event in a forward pass, for forward_nodes().
    void note_event(const Caller& caller, const PlaceKeys& place, uint64_t number, const DeviceAddress& memory);
    ForwardNodes& forward_nodes() { return forward_nodes_; }

    /// Begins or ends the step of an optimizer.
    void set_in_optimizer(bool inside);
    bool in_optimizer() const { return in_optimizer_; }

    recorder::CallbackCost cost;
    Wish wish;

private:
    struct OpenOp {
        uint32_t previous;
        bool is_outermost;
        bool was_in_op;
    };
    struct Pool {
        int64_t first, second;
    };

    /// Where events happen, by node or by stack, and the number of events so far, by action.
    struct EventsAtPlace {
        const torch::autograd::Node* node = nullptr;
        uint32_t stack = 0;  ///< without a node
        std::array<uint16_t, 16> counts{};
    };

    void begin_ring(tidemark_ring* ring);
    void leave_all();
    StackRef own_stack();
    /// Returns the parent of an op that begins: the op around it, or a node that was not observed from its begin.
    uint32_t parent_of_op(const char* name, uint8_t scope);
    void end_executed_nodes(int pass, tidemark_ring* ring);
    /// Returns whether an event belongs to a forward pass that may be left out, so that its ops are learned. In steps
    /// that may be light, none is.
    bool is_in_forward(const Caller& caller) const {
        return !caller.is_evaluating && !in_optimizer_ && !(steps_may_be_light() && has_steps());
    }
    /// Handles an event outside backward passes and optimizer steps. Work that creates no nodes is inference, whether
    /// gradients are enabled or not. Its stretches begin and end at events.
    void follow_inference();
    EventPlace place_of_event(uint8_t action, const Caller& caller);
    uint32_t path_of(const torch::autograd::Node& node);

    tidemark_ring* ring_ = nullptr;
    uint16_t serial_ = 0;
    uint32_t current_ = 0;
    bool in_optimizer_ = false;
    bool in_op_ = false;  ///< inside an op that PyTorch's dispatcher called, below any node
    bool reads_inner_results_ = false;
    OpMemory op_memory_;
    StackRef op_caller_;  ///< cached by caller_of_op() while an op is open
    uint32_t stack_at_node_ = 0;
    bool node_is_observed_ = false;  ///< from its begin
    EventsAtPlace events_;
    uint32_t inference_events_ = 0;    ///< of this stretch
    uint64_t nodes_before_event_ = 0;  ///< the thread's sequence counter, which only new nodes advance
    LearnedOps learned_ops_;
    ForwardNodes forward_nodes_;
    OpPaths paths_;
    std::vector<OpenOp> open_;
    std::vector<Pool> pools_;
    std::mutex executed_mutex_;
    std::vector<ExecutedNode> executed_;  ///< not reported yet; several where passes nest
};

/// Handles the begin of work that this thread starts. Without the graph, nothing tells when a node begins: then all ops
/// are observed, or none.
void begin_work(Work work);

/// Records the executed nodes of all threads that no other node followed. No backward pass runs.
void report_last_executed_nodes();

/// Sends what the callbacks of this thread have cost since the last time, if it is known.
void send_cost(ThreadState& state);

/// Measures one callback from PyTorch, from its begin to the end of this object's scope.
class MeasuredCallback {
public:
    explicit MeasuredCallback(ThreadState& state) : state_(state) { state_.cost.enter(); }
    MeasuredCallback(const MeasuredCallback&) = delete;
    MeasuredCallback& operator=(const MeasuredCallback&) = delete;
    ~MeasuredCallback() {
        if (state_.cost.leave()) [[unlikely]] {
            send_cost(state_);
        }
    }

private:
    ThreadState& state_;
};

/// Sets the user's phase for the whole process; 0: none.
void set_named_phase(uint32_t phase);
/// Stores the stack of this thread, which starts a backward pass.
void remember_backward_call();

}  // namespace tidemark::plugin
