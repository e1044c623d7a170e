// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/driver_attribution.h"

#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

namespace {

/// The driver part calls it inside the program's call of CUDA, so it calls nothing of PyTorch that locks or throws.
void attribute(tidemark_ring* ring, tidemark_record* record) noexcept {
    auto& driver = record->driver;
    ThreadState& state = ThreadState::here();
    if (state.ring() != ring) {
        return;
    }
    const Caller caller = state.caller();
    driver.stack = caller.stack.id;
    driver.stack_thread = caller.stack.thread;
    const EventOp op = state.op_of_event(record->detail, caller);
    driver.op = op.op;
    driver.phase = state.phase(caller);
    const DeviceAddress place{driver.address, driver.device};
    if (record->detail == TIDEMARK_DRIVER_ALLOC && driver.events > 0) {
        state.op_memory().allocated({place, op.place});
    } else if (record->detail == TIDEMARK_DRIVER_FREE) {
        state.op_memory().freed(place);
    }
}

}  // namespace

void attribute_driver_allocations(bool attributes) { core()->set_attribution(attributes ? attribute : nullptr); }

}  // namespace tidemark::plugin
