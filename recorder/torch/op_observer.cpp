// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/op_observer.h"

#include <ATen/record_function.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "recorder/torch/graph_recorder.h"
#include "recorder/torch/labels.h"
#include "recorder/torch/reveal.h"
#include "recorder/torch/thread_state.h"
#include "recorder/torch/wrapped_tensor.h"

namespace tidemark::plugin {

struct StepOfOp {
    friend constexpr auto member(StepOfOp);
};
template struct Reveal<&at::RecordFunction::step_callbacks_, StepOfOp>;

namespace {

/// Requests the results of this op. PyTorch asks for them after the callbacks at the begin have run. Most ops run
/// inside others and create no node: to request the results of all ops would cost each of them a copy.
void request_results(const at::RecordFunction& op) {
    (const_cast<at::RecordFunction&>(op).*member(StepOfOp())).needs_outputs_ = true;
}

/// Returns whether the op may create a node.
bool is_differentiable(const at::RecordFunction& op) { return op.seqNr() >= 0; }

void report_span(ThreadState& state, uint8_t detail, const char* name) {
    tidemark_ring* ring = state.ring();
    if (ring == nullptr) {
        return;
    }
    tidemark_record record{};
    record.kind = TIDEMARK_SPAN;
    record.detail = detail;
    record.span.text = name == nullptr ? 0 : core()->text(ring, name, std::strlen(name));
    core()->push(ring, &record, nullptr, 0);
}

/// Stores the stack of a forward op that may create a node.
void remember_forward_stack(ThreadState& state, const at::RecordFunction& op) {
    if (is_differentiable(op)) {
        if (const StackRef stack = state.caller_of_op(); stack.id != 0) {
            remember_forward_op(op.threadId(), op.seqNr(), stack);
        }
    }
}

std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& op) {
    ThreadState& state = ThreadState::here();
    const MeasuredCallback measured(state);
    if (op.scope() == at::RecordScope::FUNCTION) {
        state.enter_op(op.name(), TIDEMARK_SCOPE_OP);
        remember_forward_stack(state, op);
        if (graph_is_recorded() && (is_differentiable(op) || state.in_outermost_op() || state.reads_inner_results())) {
            request_results(op);
        }
    } else {
        state.enter_op(op.name(), TIDEMARK_SCOPE_NODE);
        state.enter_node();
    }
    return nullptr;
}

/// Returns the category of an op's result that no node created. Such results of backward passes and optimizer steps are
/// temporary and have no category.
uint8_t category_of_result(ThreadState& state, const char* op) {
    if (std::strncmp(op, "c10d::", 6) == 0) {
        return TIDEMARK_CATEGORY_COMMUNICATION;
    }
    if (state.in_optimizer() || executing_node() != nullptr) {
        return TIDEMARK_CATEGORY_NONE;
    }
    return (state.caller_of_op().id & stack_has_module) == 0 ? TIDEMARK_CATEGORY_INPUT : TIDEMARK_CATEGORY_OUTPUT;
}

void report_memory(ThreadState& state, uint8_t category, const DeviceAddress& memory, const PlaceKeys& place) {
    state.learn_category(place, category);
    if (category != TIDEMARK_CATEGORY_NONE) {
        report_label(category, memory);
    }
}

/// Returns whether a result does not tell which memory is its own: the wrappers of torch.func, sparse tensors.
bool hides_memory(const c10::TensorImpl& tensor) {
    const TensorPlace place = memory_of(tensor);
    return !tensor.unsafe_storage() || (place.address == 0 && place.storage_bytes > 0);
}

void report_result(ThreadState& state, const char* op, const c10::TensorImpl& tensor) {
    torch::autograd::Node* node = node_of(tensor);
    const bool is_inner = !state.in_outermost_op();  // then the node of the outer op does not exist yet
    if (node == nullptr && (state.op_memory().empty() || (is_inner && !state.reads_inner_results()))) {
        return;
    }
    const TensorPlace place = memory_of(tensor);
    const DeviceAddress memory{place.address, place.device};
    if (node == nullptr && is_inner) {
        state.op_memory().returned(memory);
        return;
    }
    const auto allocated_at = place.device == TIDEMARK_NO_DEVICE ? std::nullopt : state.op_memory().claim(memory);
    if (node != nullptr) {
        report_node(*node, tensor, allocated_at ? place : TensorPlace{});
    } else if (allocated_at) {
        report_memory(state, category_of_result(state, op), memory, *allocated_at);
    }
}

/// Handles a result that hides its memory. `later`: the number of such results after it. The op has returned what its
/// last inner op returned.
void report_hidden_result(ThreadState& state, const char* op, const c10::TensorImpl& tensor, size_t later) {
    torch::autograd::Node* node = node_of(tensor);
    if (node == nullptr && !state.in_outermost_op()) {
        return;
    }
    const auto own = state.op_memory().claim_returned(later);
    if (node != nullptr) {
        report_node(*node, tensor, own ? TensorPlace{own->memory.address, own->memory.device} : TensorPlace{});
    } else if (own) {
        report_memory(state, category_of_result(state, op), own->memory, own->place);
    }
}

/// Calls visit(const c10::TensorImpl&) for each tensor among the results.
template <class Visit>
void for_each_result(const at::RecordFunction& op, Visit&& visit) {
    const auto visit_defined = [&](const at::Tensor& tensor) {
        if (tensor.defined()) {
            visit(*tensor.unsafeGetTensorImpl());
        }
    };
    for (const c10::IValue& result : op.outputs()) {
        if (result.isTensor()) {
            visit_defined(result.toTensor());
        } else if (result.isTensorList()) {
            for (const c10::IValue& tensor : result.toListRef()) {
                visit_defined(tensor.toTensor());
            }
        }
    }
}

void report_workspaces(ThreadState& state) {
    for (const OpMemory::Piece& piece : state.op_memory()) {
        if (piece.returned == 0) {
            report_memory(state, TIDEMARK_CATEGORY_WORKSPACE, piece.memory, piece.place);
        }
    }
}

/// Once a result has hidden its memory, the results of inner ops are read on this thread, too, at the cost of a copy
/// each: one of them has that memory, and what none of them has is a workspace. Before, none is called a workspace.
void report_results(ThreadState& state, const at::RecordFunction& op) {
    size_t hidden = 0;
    for_each_result(op, [&](const c10::TensorImpl& tensor) { hidden += hides_memory(tensor) ? 1 : 0; });
    size_t later = hidden;
    for_each_result(op, [&](const c10::TensorImpl& tensor) {
        if (hidden > 0 && hides_memory(tensor)) {
            report_hidden_result(state, op.name(), tensor, --later);
        } else {
            report_result(state, op.name(), tensor);
        }
    });
    if (!state.in_outermost_op()) {
        return;
    }
    if (hidden == 0 || state.reads_inner_results()) {
        report_workspaces(state);
    } else if (!state.op_memory().empty()) {
        state.read_inner_results();
    }
}

void ends(const at::RecordFunction& op, at::ObserverContext*) {
    ThreadState& state = ThreadState::here();
    const MeasuredCallback measured(state);
    if (op.scope() == at::RecordScope::FUNCTION && !op.outputs().empty() && graph_is_recorded()) {
        report_results(state, op);
    }
    state.leave_op();
}

std::unique_ptr<at::ObserverContext> range_begins(const at::RecordFunction& range) {
    ThreadState& state = ThreadState::here();
    const MeasuredCallback measured(state);
    report_span(state, 0, range.name());
    return nullptr;
}

/// An optimizer's step that raises ends its range, but calls none of the hooks that report its end.
void end_failed_step(ThreadState& state, const char* range) {
    if (state.in_optimizer() && std::strncmp(range, "Optimizer.step#", 15) == 0) {
        state.set_in_optimizer(false);
    }
}

void range_ends(const at::RecordFunction& range, at::ObserverContext*) {
    ThreadState& state = ThreadState::here();
    const MeasuredCallback measured(state);
    end_failed_step(state, range.name());
    report_span(state, 1, nullptr);
}

/// Adds or removes a callback. `handle`: of the callback; 0 while there is none.
void set_observed(bool observe, at::CallbackHandle& handle, const at::RecordFunctionCallback& callback) {
    if (observe && handle == 0) {
        handle = at::addGlobalCallback(callback);
    } else if (!observe && handle != 0) {
        at::removeCallback(handle);
        handle = 0;
    }
}

/// Whether ops are observed is decided at two places.
struct Ops {
    std::mutex mutex;
    bool are_observed = false, are_suspended = false;
    at::CallbackHandle handle = 0;

    /// Requires the lock.
    void update() {
        set_observed(are_observed && !are_suspended, handle,
                     at::RecordFunctionCallback(begins, ends)
                         .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    }
};
Ops ops;

}  // namespace

void observe_ops(bool observe) {
    const std::lock_guard lock(ops.mutex);
    ops.are_observed = observe;
    ops.update();
}

void suspend_ops(bool suspended) {
    const std::lock_guard lock(ops.mutex);
    ops.are_suspended = suspended;
    ops.update();
}

void observe_ranges(bool observe) {
    static at::CallbackHandle handle = 0;
    set_observed(observe, handle,
                 at::RecordFunctionCallback(range_begins, range_ends).scopes({at::RecordScope::USER_SCOPE}));
}

}  // namespace tidemark::plugin
