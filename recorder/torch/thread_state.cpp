// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/thread_state.h"

#include <ATen/SequenceNumber.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "recorder/core/per_thread.h"
#include "recorder/torch/graph_recorder.h"
#include "recorder/torch/node_types.h"
#include "recorder/torch/torch_versions.h"

namespace tidemark::plugin {

namespace {

// PyTorch calls plain functions without a context, so this state belongs to the process.
std::atomic<const tidemark_api*> core_api{nullptr};
std::atomic<uint32_t> named_phase{0};
std::atomic<uint64_t> backward_call{0};  ///< a packed StackRef

constexpr size_t most_nested_passes = 64;
/// Several tokens of a small language model.
constexpr uint32_t events_of_inference_stretch = 2048;

// Threads that have executed nodes since the last backward pass ended. Never destroyed: other threads may still use it
// while the process exits.
struct Executing {
    std::mutex mutex;
    std::vector<ThreadState*> threads;
};
Executing& executing() {
    static auto* all = new Executing;
    return *all;
}

}  // namespace

torch::autograd::Node* executing_node() {
    return torch::autograd::get_current_node().get();  // the engine retains it while it executes it
}

const tidemark_api* core() { return core_api.load(std::memory_order_acquire); }
void set_core(const tidemark_api* api) { core_api.store(api, std::memory_order_release); }

void begin_work(Work work) {
    if (graph_is_recorded()) {
        work_begins(work);
    }
}

void ThreadState::set_in_optimizer(bool inside) {
    if (in_optimizer_) {
        work_ends(Work::optimizer);  // also of a step that raised before ranges were observed, which nothing reports
    }
    in_optimizer_ = inside;
    if (inside) {
        begin_work(Work::optimizer);
    }
}

ThreadState& ThreadState::here() { return recorder::PerThread<ThreadState>::here(); }

/// Forgets the ids of the ring before.
void ThreadState::begin_ring(tidemark_ring* ring) {
    ring_ = ring;
    serial_ = ring == nullptr ? 0 : ring->serial;
    paths_ = {};
    pools_.clear();
    learned_ops_.clear();
    forward_nodes_.clear();
    leave_all();
}

/// Forgets what is open. It may be that of a thread that has ended.
void ThreadState::leave_all() {
    open_.clear();
    op_memory_.clear();
    current_ = 0;
    in_op_ = false;
    op_caller_ = {};
    stack_at_node_ = 0;
    node_is_observed_ = false;
    events_ = {};
    inference_events_ = 0;
    nodes_before_event_ = 0;
}

uint32_t ThreadState::parent_of_op(const char* name, uint8_t scope) {
    const torch::autograd::Node* node = open_.empty() ? executing_node() : nullptr;
    const bool is_inside = node != nullptr && scope == TIDEMARK_SCOPE_OP && !kind_of(name, scope).is_evaluation;
    return is_inside ? path_of(*node) : current_;
}

void ThreadState::enter_op(const char* name, uint8_t scope) {
    tidemark_ring* own = ring();
    const uint32_t parent = parent_of_op(name, scope);
    const OpPaths::Path path =
        own == nullptr ? OpPaths::Path{0, kind_of(name, scope)} : paths_.child(*core(), own, parent, name, scope);
    const auto [is_evaluation, is_dispatched] = path.kind;
    const bool is_outermost = is_dispatched && !in_op_;
    open_.push_back({current_, is_outermost, in_op_});
    in_op_ = is_dispatched || (in_op_ && scope == TIDEMARK_SCOPE_OP && !is_evaluation);
    if (is_outermost) {
        op_memory_.clear();
    }
    if (own != nullptr) {
        current_ = path.id;
    }
}

void ThreadState::leave_op() {
    if (open_.empty()) {
        return;  // the op began on another thread
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
    if (op_caller_.id == 0 || executing_node() != nullptr) {
        op_caller_ = caller().stack;
    }
    return op_caller_;
}

void ThreadState::enter_node() {
    stack_at_node_ = own_stack().id;
    node_is_observed_ = ops_are_observed(wish);
    events_ = {};
}

void ThreadState::node_executes(ExecutedNode node, tidemark_ring* ring) {
    {
        const std::lock_guard lock(executed_mutex_);
        if (executed_.size() == 1 && executed_.front().pass == node.pass) {
            node.retains_graph = executed_.front().retains_graph;
            std::swap(executed_.front(), node);  // no pass is nested: most often
        } else {
            node.retains_graph = torch::autograd::get_current_graph_task_keep_graph();
            end_executed_nodes(node.pass, ring);
            executed_.push_back(std::exchange(node, {}));
        }
    }
    if (node.number != 0) {
        report_executed_node(node, ring);
    }
}

/// Reports the last node of this pass and those of passes inside it. Requires the lock.
void ThreadState::end_executed_nodes(int pass, tidemark_ring* ring) {
    if (executed_.empty()) {
        const std::lock_guard registration(executing().mutex);
        executing().threads.push_back(this);
    }
    auto ended =
        std::find_if(executed_.begin(), executed_.end(), [&](const ExecutedNode& each) { return each.pass == pass; });
    if (executed_.size() == most_nested_passes) {
        ended = executed_.begin();  // passes that C++ code began, whose end is not reported
    }
    std::for_each(std::make_reverse_iterator(executed_.end()), std::make_reverse_iterator(ended),
                  [&](const ExecutedNode& each) { report_executed_node(each, ring); });
    executed_.erase(ended, executed_.end());
}

void ThreadState::report_executed_nodes() {
    std::vector<ExecutedNode> ended;
    {
        const std::lock_guard lock(executed_mutex_);
        ended.swap(executed_);
    }
    if (tidemark_ring* own = graph_is_recorded() ? here().ring() : nullptr) {
        std::for_each(ended.rbegin(), ended.rend(), [&](const ExecutedNode& each) { report_executed_node(each, own); });
    }
}

uint32_t ThreadState::path_of(const torch::autograd::Node& node) {
    const char* name = type_of(node).engine_name.c_str();  // name() of a Python function waits for the interpreter lock
    return ring_ == nullptr ? 0 : paths_.child(*core(), ring_, 0, name, TIDEMARK_SCOPE_NODE).id;
}

EventPlace ThreadState::place_of_event(uint8_t action, const Caller& caller) {
    const torch::autograd::Node* node = caller.derivative;
    const uint32_t stack = node == nullptr ? caller.stack.id : 0;
    if (events_.node != node || events_.stack != stack) {
        events_ = {node, stack, {}};
    }
    uint16_t& count = events_.counts[action % events_.counts.size()];
    return {node == nullptr ? EventPlace::no_node : type_of(*node).number, caller.stack, action, count++};
}

EventOp ThreadState::op_of_event(uint8_t action, const Caller& caller) {
    if (!graph_is_recorded()) {
        return {current_};
    }
    const bool is_optimizer = in_optimizer_ && !caller.is_evaluating && !c10::GradMode::is_enabled();
    if (caller.derivative == nullptr && !is_optimizer && !is_in_forward(caller)) {
        if (!ops_are_observed(wish)) {
            observe_rest_of_work();  // Python code in a node or in a closure of an optimizer may do anything
        }
        return {current_};
    }
    if (is_in_forward(caller) && !has_steps()) {
        follow_inference();
    }
    const PlaceKeys place = PlaceKeys::of(place_of_event(action, caller));
    if (caller.derivative != nullptr ? node_is_observed_ : ops_are_observed(wish)) {
        learned_ops_.learn(place, current_);
        return {current_, TIDEMARK_CATEGORY_NONE, place};
    }
    const LearnedOps::Known known = learned_ops_.find(place);
    // How many tensors Python frees at a line of inference changes, and frees create nothing.
    const bool is_needed = has_steps() || action == TraceEntry::ALLOC;
    if (!known.is_known && is_needed) {
        observe_rest_of_work();
    }
    const bool is_of_node = known.op == 0 && caller.derivative != nullptr;
    return {is_of_node ? path_of(*caller.derivative) : known.op, known.category, place};
}

void ThreadState::follow_inference() {
    if (const uint64_t nodes = at::sequence_number::peek(); std::exchange(nodes_before_event_, nodes) != nodes) {
        inference_events_ = 0;
        if (!ops_are_observed(wish)) {
            observe_rest_of_work();  // ops create nodes, and there is no pass in which these would be found
        }
    } else if (++inference_events_ >= events_of_inference_stretch) {
        inference_events_ = 0;
        inference_goes_on();
    }
}

bool ThreadState::begin_forward(bool keeps_nodes) {
    const auto counter = static_cast<int64_t>(at::sequence_number::peek());
    if (ring() == nullptr || !keeps_nodes) {
        forward_nodes_.end();
        return true;
    }
    if (forward_nodes_.is_at_begin(counter)) {
        return false;
    }
    forward_nodes_.begin(counter);
    return true;
}

void ThreadState::note_event(const Caller& caller, const PlaceKeys& place, uint64_t number,
                             const DeviceAddress& memory) {
    if (forward_nodes_.is_active() && is_in_forward(caller)) {
        forward_nodes_.add({static_cast<int64_t>(at::sequence_number::peek()), place, number, memory});
    }
}

StackRef ThreadState::own_stack() {
    if (ring_ == nullptr) {
        return {};
    }
    StackRef stack{0, serial_, 0};
    stack.id = core()->stack(ring_, &stack.lines);
    return stack;
}

Caller ThreadState::caller() {
    const StackRef own = own_stack();
    const torch::autograd::Node* node = executing_node();
    if (node == nullptr || (own.id != 0 && own.id != stack_at_node_)) {
        return {own, node != nullptr, nullptr};
    }
    // No Python code runs inside the node, so the stack of the forward op is more specific.
    const StackRef forward = forward_op(node->thread_id(), static_cast<int64_t>(node->sequence_nr()));
    if (forward.id != 0 || own.id != 0) {
        return {forward.id != 0 ? forward : own, true, node};
    }
    return {StackRef::unpacked(backward_call.load(std::memory_order_relaxed)), true, node};
}

uint8_t ThreadState::phase(const Caller& caller) const {
    if (caller.is_evaluating) {
        return TIDEMARK_PHASE_BACKWARD;
    }
    if (in_optimizer_) {
        return TIDEMARK_PHASE_OPTIMIZER;
    }
    if (const uint32_t named = named_phase.load(std::memory_order_relaxed)) {
        return static_cast<uint8_t>(named);
    }
    if ((caller.stack.id & stack_has_module) == 0) {
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

void send_cost(ThreadState& state) {
    tidemark_ring* ring = state.cost.has_cost() ? state.ring() : nullptr;
    if (ring != nullptr) {
        tidemark_record record = state.cost.take();
        core()->push(ring, &record, nullptr, 0);
    }
}

void set_named_phase(uint32_t phase) { named_phase.store(phase, std::memory_order_relaxed); }

void report_last_executed_nodes() {
    std::vector<ThreadState*> threads;
    {
        const std::lock_guard lock(executing().mutex);
        threads.swap(executing().threads);
    }
    for (ThreadState* thread : threads) {
        thread->report_executed_nodes();
    }
}

void remember_backward_call() {
    ThreadState& state = ThreadState::here();
    if (const StackRef here = state.ring() == nullptr ? StackRef{} : state.caller().stack; here.id != 0) {
        backward_call.store(here.packed(), std::memory_order_relaxed);
    }
}

}  // namespace tidemark::plugin
