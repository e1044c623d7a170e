// What the plugin knows of the thread it is called on: its ring, the ops it is in, the phase.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/torch/forward_links.h"
#include "recorder/torch/op_memory.h"
#include "recorder/torch/op_paths.h"
#include "recorder/torch/tensor_place.h"

namespace tidemark::plugin {

/// The core's functions; nullptr before the first attach.
const tidemark_api* core();
void set_core(const tidemark_api* api);

/// The stack walker marks stacks that run through a torch.nn.Module by this bit of their id (frames/walker.h).
constexpr uint32_t stack_has_module = 1;

/// A node the engine runs. `variable`: the tensor whose gradient an AccumulateGrad puts into its place.
struct RanNode {
    uint32_t number = 0;
    WeakTensor variable{StrongTensor()};
};

class ThreadState {
public:
    /// Of the calling thread. Never destroyed: memory is freed after a thread's destructors have run.
    static ThreadState& here();

    /// This thread's ring in the present recording, or nullptr. Numbers told to an earlier ring are forgotten. Asked
    /// once in every call from PyTorch, before anything below.
    tidemark_ring* ring();

    /// An op, node or anything that nests begins or ends on this thread.
    void enter_op(const char* name, uint8_t scope);
    void leave_op();
    uint32_t current_op() const { return current_; }
    /// This thread is in an op that was called by a program or by a node, not by another op.
    bool in_outermost_op() const { return !open_.empty() && open_.back().is_outermost; }
    OpMemory& op_memory() { return op_memory_; }

    /// Who called the outermost op this thread is in. Ops inside an op are called from C++, by the same Python line.
    StackRef caller_of_op();

    /// The node being executed was made by the forward op with this stack.
    void enter_node(StackRef made_by);
    void leave_evaluation();
    bool is_evaluating() const { return evaluations_ > 0; }
    /// The engine is about to run a tagged node: told when its evaluation ends.
    void node_runs(const RanNode& node);

    /// Whom to hold responsible for memory that moves now: the Python stack of this thread; on a backward thread the
    /// stack of the forward op; failing that, of the call that started the pass.
    StackRef responsible();
    uint8_t phase(StackRef stack) const;

    /// Number of an allocator pool on this thread; 0: the default pool.
    uint16_t pool(int64_t first, int64_t second);

    bool in_optimizer = false;

private:
    struct OpenOp {
        uint32_t previous;
        bool is_evaluation;  ///< the engine's wrapper around a node and the sums of its gradients
        bool is_outermost;
        bool was_in_op;
        RanNode ran;  ///< in that evaluation
    };
    struct Pool {
        int64_t first, second;
    };

    StackRef own_stack();

    tidemark_ring* ring_ = nullptr;
    uint16_t serial_ = 0;
    uint32_t current_ = 0;
    int evaluations_ = 0;
    bool in_op_ = false;  ///< in one that PyTorch's dispatcher called, below any node
    OpMemory op_memory_;
    StackRef op_caller_;  ///< while an op is open and asked for its caller
    StackRef node_maker_;
    uint32_t stack_at_node_ = 0;
    OpPaths paths_;
    std::vector<OpenOp> open_;
    std::vector<Pool> pools_;
};

/// The user's phase for the whole process; 0: none.
void set_named_phase(uint32_t phase);
/// This thread starts a backward pass.
void remember_backward_call();

}  // namespace tidemark::plugin
