// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/thread_state.h"

#include <c10/core/GradMode.h>

#include <atomic>

#include "recorder/torch/graph_recorder.h"

namespace tidemark::plugin {

namespace {

// PyTorch calls plain functions without a context, so this state belongs to the process.
std::atomic<const tidemark_api*> core_api{nullptr};
std::atomic<uint32_t> named_phase{0};
std::atomic<uint64_t> backward_call{0};  ///< a packed StackRef

thread_local ThreadState* state_of_thread = nullptr;

}  // namespace

const tidemark_api* core() { return core_api.load(std::memory_order_acquire); }
void set_core(const tidemark_api* api) { core_api.store(api, std::memory_order_release); }

ThreadState& ThreadState::here() {
    if (state_of_thread == nullptr) {
        state_of_thread = new ThreadState;
    }
    return *state_of_thread;
}

tidemark_ring* ThreadState::ring() {
    const tidemark_api* api = core();
    tidemark_ring* ring = api->this_thread();
    if (ring != ring_ || (ring != nullptr && ring->serial != serial_)) {
        ring_ = ring;
        serial_ = ring == nullptr ? 0 : ring->serial;
        paths_ = {};
        pools_.clear();
        current_ = 0;
        op_caller_ = node_stack_ = {};
    }
    return ring;
}

void ThreadState::enter_op(const char* name, uint8_t scope) {
    tidemark_ring* own = ring();
    const OpPaths::Path path =
        own == nullptr ? OpPaths::Path{0, kind_of(name, scope)} : paths_.child(*core(), own, current_, name, scope);
    const auto [is_evaluation, is_dispatched] = path.kind;
    const bool is_outermost = is_dispatched && !in_op_;
    open_.push_back({current_, is_evaluation, is_outermost, in_op_, {}});
    in_op_ = is_dispatched || (in_op_ && scope == TIDEMARK_SCOPE_OP && !is_evaluation);
    if (is_outermost) {
        op_memory_.clear();
    }
    evaluations_ += is_evaluation;
    if (own != nullptr) {
        current_ = path.id;
    }
}

void ThreadState::leave_op() {
    if (open_.empty()) {
        return;  // the op began on another thread
    }
    if (open_.back().executed.number != 0) {
        report_executed_node(open_.back().executed);
    }
    if (open_.back().is_evaluation) {
        leave_evaluation();
    }
    if (open_.back().is_outermost) {
        op_memory_.clear();
    }
    in_op_ = open_.back().was_in_op;
    current_ = open_.back().previous;
    open_.pop_back();
    if (open_.empty()) {
        op_caller_ = {};
    }
}

StackRef ThreadState::caller_of_op() {
    if (op_caller_.id == 0 || evaluations_ > 0) {
        op_caller_ = attributed_stack();
    }
    return op_caller_;
}

void ThreadState::enter_node(StackRef forward_stack) {
    node_stack_ = forward_stack;
    stack_at_node_ = own_stack().id;
}

void ThreadState::leave_evaluation() {
    if (--evaluations_ == 0) {
        node_stack_ = {};
        stack_at_node_ = 0;
    }
}

bool ThreadState::is_in_derivative() { return is_evaluating() && own_stack().id == stack_at_node_; }

void ThreadState::node_executes(const ExecutedNode& node) {
    for (auto op = open_.rbegin(); op != open_.rend(); ++op) {
        if (op->is_evaluation) {
            op->executed = node;
            return;
        }
    }
    report_executed_node(node);  // its evaluation began before the recording
}

StackRef ThreadState::own_stack() {
    if (ring_ == nullptr) {
        return {};
    }
    StackRef stack{0, serial_, 0};
    stack.id = core()->stack(ring_, &stack.lines);
    return stack;
}

StackRef ThreadState::attributed_stack() {
    const StackRef own = own_stack();
    if (evaluations_ > 0 && node_stack_.id != 0 && own.id == stack_at_node_) {
        return node_stack_;  // no Python code runs inside the node, so the stack of the forward op is more specific
    }
    if (own.id != 0) {
        return own;
    }
    if (evaluations_ == 0) {
        return {};
    }
    return StackRef::unpacked(backward_call.load(std::memory_order_relaxed));
}

uint8_t ThreadState::phase(StackRef stack) const {
    if (evaluations_ > 0) {
        return TIDEMARK_PHASE_BACKWARD;
    }
    if (in_optimizer) {
        return TIDEMARK_PHASE_OPTIMIZER;
    }
    if (const uint32_t named = named_phase.load(std::memory_order_relaxed)) {
        return static_cast<uint8_t>(named);
    }
    if ((stack.id & stack_has_module) == 0) {
        return TIDEMARK_PHASE_NONE;
    }
    return c10::GradMode::is_enabled() ? TIDEMARK_PHASE_FORWARD : TIDEMARK_PHASE_EVAL;
}

bool ThreadState::may_be_in(uint8_t phase) const {
    if (phase == TIDEMARK_PHASE_BACKWARD || phase == TIDEMARK_PHASE_OPTIMIZER) {
        return true;  // they come before the name of a phase
    }
    const uint32_t named = named_phase.load(std::memory_order_relaxed);
    return named == 0 ? phase < TIDEMARK_PHASE_FIRST_NAMED : phase == named;
}

uint16_t ThreadState::pool(int64_t first, int64_t second) {
    if (first == 0 && second == 0) {
        return 0;
    }
    for (size_t i = 0; i < pools_.size(); ++i) {
        if (pools_[i].first == first && pools_[i].second == second) {
            return static_cast<uint16_t>(i + 1);
        }
    }
    tidemark_record record{};
    record.kind = TIDEMARK_POOL;
    record.define.id = static_cast<uint32_t>(pools_.size() + 1);
    record.define.owner[0] = first;
    record.define.owner[1] = second;
    if (pools_.size() >= UINT16_MAX || core()->push(ring_, &record, nullptr, 0) == 0) {
        return 0;
    }
    pools_.push_back({first, second});
    return static_cast<uint16_t>(record.define.id);
}

MeasuredCallback::~MeasuredCallback() {
    if (state_.cost.leave()) {
        send_cost(state_);
    }
}

void send_cost(ThreadState& state) {
    tidemark_ring* ring = state.cost.has_cost() ? state.ring() : nullptr;
    if (ring != nullptr) {
        tidemark_record record = state.cost.take();
        core()->push(ring, &record, nullptr, 0);
    }
}

void set_named_phase(uint32_t phase) { named_phase.store(phase, std::memory_order_relaxed); }

void remember_backward_call() {
    ThreadState& state = ThreadState::here();
    if (const StackRef here = state.ring() == nullptr ? StackRef{} : state.attributed_stack(); here.id != 0) {
        backward_call.store(here.packed(), std::memory_order_relaxed);
    }
}

}  // namespace tidemark::plugin
