#include "recorder/torch/op_observer.h"

#include <ATen/record_function.h>

#include <cstring>
#include <memory>

#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

namespace {

void tell_span(ThreadState& state, uint8_t detail, const char* name) {
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

/// A forward op that may make a node remembers who called it.
void remember_maker(ThreadState& state, const at::RecordFunction& op) {
    if (op.seqNr() >= 0) {
        if (const StackRef stack = state.caller_of_op(); stack.id != 0) {
            remember_forward_op(op.threadId(), op.seqNr(), stack);
        }
    }
}

std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& op) {
    ThreadState& state = ThreadState::here();
    switch (op.scope()) {
        case at::RecordScope::FUNCTION:
            state.enter_op(op.name(), TIDEMARK_SCOPE_OP);
            remember_maker(state, op);
            break;
        case at::RecordScope::BACKWARD_FUNCTION:
            state.enter_op(op.name(), TIDEMARK_SCOPE_NODE);
            state.enter_node(forward_op(op.forwardThreadId(), op.seqNr()));
            break;
        default: tell_span(state, 0, op.name());
    }
    return nullptr;
}

void ends(const at::RecordFunction& op, at::ObserverContext*) {
    ThreadState& state = ThreadState::here();
    if (op.scope() == at::RecordScope::FUNCTION || op.scope() == at::RecordScope::BACKWARD_FUNCTION) {
        state.leave_op();
    } else {
        tell_span(state, 1, nullptr);
    }
}

}  // namespace

void observe_ops(bool observe) {
    static at::CallbackHandle handle = 0;
    if (observe && handle == 0) {
        handle = at::addGlobalCallback(
            at::RecordFunctionCallback(begins, ends)
                .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
    } else if (!observe && handle != 0) {
        at::removeCallback(handle);
        handle = 0;
    }
}

}  // namespace tidemark::plugin
