// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/plugin.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "recorder/torch/allocator_settings.h"
#include "recorder/torch/allocator_tracker.h"
#include "recorder/torch/detail_level.h"
#include "recorder/torch/driver_attribution.h"
#include "recorder/torch/graph_recorder.h"
#include "recorder/torch/labels.h"
#include "recorder/torch/light_steps.h"
#include "recorder/torch/op_observer.h"
#include "recorder/torch/repeated_work.h"
#include "recorder/torch/saved_variables.h"
#include "recorder/torch/thread_state.h"
#include "recorder/torch/wrapped_tensor.h"

namespace tidemark::plugin {

namespace {

/// Sends the segments and used blocks of one device.
class StateReporter {
public:
    StateReporter(int device, uint8_t purpose, uint64_t events_before)
        : device_(device), ring_(ThreadState::here().ring()) {
        tidemark_record record = part(TIDEMARK_STATE_BEGIN);
        record.state.sequence = events_before;
        record.state.flags = purpose;
        push(record);
    }

    template <class Segment>
    void segment(const Segment& segment) {
        tidemark_record record = part(TIDEMARK_STATE_SEGMENT);
        record.state.address = segment.address;
        record.state.size = segment.total_size;
        record.state.stream = reinterpret_cast<uintptr_t>(segment.stream);
        record.state.pool = ThreadState::here().pool(static_cast<int64_t>(segment.owner_private_pool_id.first),
                                                     static_cast<int64_t>(segment.owner_private_pool_id.second));
        record.state.flags = static_cast<uint8_t>((segment.is_large ? TIDEMARK_SEGMENT_LARGE : 0) |
                                                  (segment.is_expandable ? TIDEMARK_SEGMENT_EXPANDABLE : 0));
        push(record);
        uint64_t address = segment.address;
        for (const auto& block : segment.blocks) {
            if (block.allocated || block.active) {
                report_block(address, block.size, block.requested_size, block.allocated);
            }
            address += block.size;
        }
    }

    void end() { push(part(TIDEMARK_STATE_END)); }

private:
    tidemark_record part(uint8_t detail) const {
        tidemark_record record{};
        record.kind = TIDEMARK_STATE;
        record.detail = detail;
        record.state.device = static_cast<uint8_t>(device_);
        return record;
    }

    void report_block(uint64_t address, uint64_t size, uint64_t requested, bool allocated) {
        tidemark_record record = part(TIDEMARK_STATE_BLOCK);
        record.state.address = address;
        record.state.size = size;
        record.state.requested = requested;
        record.state.flags = allocated ? TIDEMARK_BLOCK_ALLOCATED : TIDEMARK_BLOCK_PENDING;
        push(record);
    }

    void push(tidemark_record record) {
        if (ring_ != nullptr) {
            core()->push(ring_, &record, nullptr, 0);
        }
    }

    int device_;
    tidemark_ring* ring_;
};

void report_state(uint8_t purpose) {
    const Cut cut = snapshot_with_cut();
    const int devices = std::min(device_count(), static_cast<int>(cut.events_before.size()));
    for (int device = 0; device < devices; ++device) {
        StateReporter reporter(device, purpose, cut.events_before[static_cast<size_t>(device)]);
        for (const auto& segment : cut.snapshot.segments) {
            if (segment.device == device) {
                reporter.segment(segment);
            }
        }
        reporter.end();
    }
}

/// Starts without a snapshot if the program records PyTorch's memory history, in which the snapshot would appear.
/// Returns false if no history is recorded or if the allocator has memory already.
bool start_without_snapshot() {
    if (!allocator::isHistoryEnabled()) {
        return false;
    }
    for (int device = 0; device < device_count(); ++device) {
        if (allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device)).reserved_bytes[0].current != 0) {
            return false;
        }
    }
    arm_now();
    for (int device = 0; device < device_count(); ++device) {
        StateReporter(device, TIDEMARK_STATE_START, 0).end();
    }
    return true;
}

void attach_to_allocator() {
    static bool attached = false;  // torch offers no way to detach
    if (!attached) {
        attach_tracker();
        attached = true;
    }
    disarm();
    report_allocator_settings();
    if (!start_without_snapshot()) {
        arm_at_next_snapshot();
        report_state(TIDEMARK_STATE_START);
    }
}

int observed_parts = 0;  ///< of the recording, which is one per process

bool observes(int part) { return (observed_parts & part) != 0; }

/// Ranges are not details: explanations tell from them which optimizers step.
void observe(bool details) {
    const bool ops = observes(TIDEMARK_PLUGIN_GRAPH) || observes(TIDEMARK_PLUGIN_OPS);
    observe_ops(details && ops);
    observe_ranges(ops);
}

void attach(const tidemark_api* api, int parts) {
    set_core(api);
    begin_with_details(nullptr);
    const bool records_graph = (parts & TIDEMARK_PLUGIN_GRAPH) != 0;
    if (records_graph != graph_is_recorded()) {
        forget_labeled_tensors();
        record_graph(records_graph);
    }
    observed_parts = parts;
    begin_repeated_work();
    observe(true);
    attribute_driver_allocations((parts & TIDEMARK_PLUGIN_DRIVER) != 0);
    begin_steps((parts & TIDEMARK_PLUGIN_LIGHT_STEPS) != 0);
    begin_with_details(observe);
    if ((parts & TIDEMARK_PLUGIN_ALLOCATOR) != 0) {
        attach_to_allocator();
    }
}

/// Begins a step on the thread that ended the one before. Steps that may be light have no nodes to find, and driver
/// allocations tell less about an op than those of PyTorch's allocator.
void begin_step() {
    static int64_t allocations = 0;  // one thread ends steps at a time
    const int64_t before = std::exchange(allocations, allocations_so_far());
    if (core() == nullptr || !graph_is_recorded()) {
        return;
    }
    const bool keeps_nodes = !steps_may_be_light() && records_details() && core()->driver_owns_events() == 0;
    if (ThreadState::here().begin_forward(keeps_nodes)) {
        step_begins(keeps_nodes && allocations <= before);
    }
}

void follow_pause_here() {
    if (const tidemark_ring* ring = core() == nullptr ? nullptr : ThreadState::here().ring()) {
        follow_pause(*ring);
    }
}

c10::TensorImpl* tensor_at(uint64_t address) {
    return reinterpret_cast<c10::TensorImpl*>(static_cast<uintptr_t>(address));
}

}  // namespace

}  // namespace tidemark::plugin

using namespace tidemark::plugin;

extern "C" {

uint32_t tidemark_plugin_version(void) { return TIDEMARK_PLUGIN_VERSION; }

int tidemark_plugin_attach(const struct tidemark_api* api, int parts, char* error, size_t error_size) {
    try {
        attach(api, parts);
        return 1;
    } catch (const std::exception& failure) {
        std::snprintf(error, error_size, "the plugin cannot attach to PyTorch's allocator: %s", failure.what());
        return 0;
    }
}

void tidemark_plugin_detach(void) {
    if (core() != nullptr) {
        send_cost(ThreadState::here());
        attribute_driver_allocations(false);
    }
    disarm();
    begin_with_details(nullptr);
    observed_parts = 0;
    observe(false);
    record_graph(false);
    forget_labeled_tensors();
}

void tidemark_plugin_suspend(int suspended) {
    suspend_events(suspended != 0);
    if (suspended != 0 ? records_details() : are_details_paused()) {  // light steps stay light
        set_details_paused(suspended != 0);
    }
}

int tidemark_plugin_check(void) {
    try {
        if (core() == nullptr || !core()->recording() || allocator::isHistoryEnabled()) {
            return 0;
        }
        report_state(TIDEMARK_STATE_CHECK);
        return 1;
    } catch (...) {
        return 0;  // a failed check must not disturb the program
    }
}

int tidemark_plugin_sequences(uint64_t* sequences, int count) {
    for (int device = 0; device < std::min(count, device_count()); ++device) {
        sequences[device] = events_so_far(device);
    }
    return device_count();
}

void tidemark_plugin_phase(uint32_t phase) { set_named_phase(phase); }

void tidemark_plugin_optimizer(int inside) { ThreadState::here().set_in_optimizer(inside != 0); }

void tidemark_plugin_step_ended(void) {
    follow_pause_here();
    step_ends();
    begin_step();
}

void tidemark_plugin_end_step(int source, uint64_t number) {
    if (tidemark_ring* ring = core() == nullptr ? nullptr : core()->this_thread()) {
        tidemark_record record{};
        record.kind = TIDEMARK_STEP;
        record.detail = static_cast<uint8_t>(source);
        record.step.number = number;
        core()->push(ring, &record, nullptr, 0);
    }
    tidemark_plugin_step_ended();
}

int tidemark_plugin_records_details(void) {
    follow_pause_here();
    return records_details();
}

void tidemark_plugin_backward_begins(void) {
    if (core() != nullptr && core()->recording()) {
        remember_backward_call();
        begin_work(Work::backward);
    }
}

void tidemark_plugin_backward_ends(void) {
    if (work_ends(Work::backward)) {
        report_last_executed_nodes();
    }
}

void tidemark_plugin_identify(uint64_t tensor, struct tidemark_tensor* out) {
    const c10::TensorImpl& impl = *tensor_at(tensor);
    const TensorPlace place = place_of(impl);
    torch::autograd::Node* node = node_of(impl);
    *out = {node == nullptr ? 0 : report_node(*node, impl, {}),
            place.device,
            place.address,
            0,
            place.storage_bytes,
            extent_of(impl, place).bytes};
    if (place.device != TIDEMARK_NO_DEVICE) {
        out->sequence = events_so_far(place.device);
    }
}

uint64_t tidemark_plugin_block_of(uint64_t tensor) { return place_of(*tensor_at(tensor)).address; }

int tidemark_plugin_has_node(uint64_t tensor) { return node_of(*tensor_at(tensor)) != nullptr; }

int tidemark_plugin_is_recorded(uint64_t tensor) {
    const c10::TensorImpl& impl = *tensor_at(tensor);
    return node_of(impl) != nullptr || place_of(impl).device != TIDEMARK_NO_DEVICE;
}

uint64_t tidemark_plugin_gradient_of(uint64_t tensor) {
    return reinterpret_cast<uintptr_t>(gradient_of(*tensor_at(tensor)));
}

void tidemark_plugin_label(uint64_t tensor, int category, const char* name) {
    label_tensor(tensor, static_cast<uint8_t>(category), name);
}

void tidemark_plugin_update_labels(void) { update_labels(true); }

void tidemark_plugin_update_labels_of_tensors(void) { update_labels(false); }

void tidemark_plugin_update_labels_of_parameters(void) { update_labels_of_parameters(); }

void tidemark_plugin_live_nodes(uint64_t* alive, uint64_t* newest) {
    const LiveNodes nodes = live_nodes();
    *alive = nodes.alive;
    *newest = nodes.newest;
}

int tidemark_plugin_learn_python_function(uint64_t tensor, uint64_t ctx, uint64_t ctx_bytes, uint64_t first_saved,
                                          uint64_t saved_count) {
    const torch::autograd::Node* node = node_of(*tensor_at(tensor));
    return node == nullptr
               ? 0
               : learn_python_function(node, reinterpret_cast<const void*>(static_cast<uintptr_t>(ctx)), ctx_bytes,
                                       reinterpret_cast<const void*>(static_cast<uintptr_t>(first_saved)), saved_count);
}

int tidemark_plugin_learn_tensor_object(uint64_t object, uint64_t bytes, uint64_t impl, uint64_t tensor_class) {
    return learn_tensor_object({reinterpret_cast<const void*>(static_cast<uintptr_t>(object)), bytes,
                                reinterpret_cast<const void*>(static_cast<uintptr_t>(impl)),
                                reinterpret_cast<void*>(static_cast<uintptr_t>(tensor_class))});
}

}  // extern "C"
