// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A small trace for tests that read traces, and helpers to build others.
#pragma once

#include <string_view>

#include "storage/trace/trace.h"

namespace tidemark::test {

inline StackId stack_of(StackTable& table,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> frames) {
    std::vector<FrameId> ids;
    int32_t line = 10;
    for (const auto& [file, function] : frames) {
        ids.push_back(table.intern(Frame{table.intern(function), table.intern(file), line}));
        line += 10;
    }
    return table.intern_stack(ids);
}

inline uint32_t add_allocation(DeviceHistory& device, EventNumber created, EventNumber freed, EventNumber completed,
                               uint64_t address, uint64_t requested, uint64_t block, StackId stack) {
    device.allocations.push_back({created, freed, completed, address, requested, block, stack, 0, 0, 0});
    return device.allocations.size() - 1;
}

/// Returns a trace of device 0 with nine events, one per µs:
///   0 segment   1 alloc A (in torch, called at line 20 of train.py)   2 alloc B (line 10 of data.py)
///   3 free of A requested   4 completed   5 alloc C (same stack as A)   6 free of B requested   7 out of memory
///   8 free of B completed
/// and allocation P, 4096 bytes without a stack, from before the history. Annotations: step 1..3.5 µs, nested fwd
/// 1.5..2.5 µs, step 4.5..6 µs. Mark "epoch" at 5.5 µs.
inline Trace sample_trace() {
    Trace trace;
    const StackId train =
        stack_of(trace.stacks, {{"/home/anna/venv/lib/python3.12/site-packages/torch/nn/linear.py", "forward"},
                                {"/home/anna/project/train.py", "train_step"},
                                {"/home/anna/project/main.py", "<module>"}});
    const StackId data = stack_of(trace.stacks, {{"/home/anna/project/data.py", "next_batch"}});
    trace.source = "PyTorch snapshot annas_run.pickle";
    trace.duration = 8000;
    trace.streams = {{0, ""}, {0x7f00, ""}};
    trace.pools = {Pool{}};
    trace.origins = {Origin{}};
    trace.annotations = {{"step", AnnotationKind::user, 0, 1000, 3500, true},
                         {"fwd", AnnotationKind::user, 0, 1500, 2500, true},
                         {"step", AnnotationKind::user, 0, 4500, 6000, true}};
    trace.marks = {{"epoch", 5500, std::nullopt, {{0, 6}}}};

    DeviceHistory device;
    Segment segment;
    segment.address = 0x1000000;
    segment.size = 2 << 20;
    segment.alloc_event = before_history;
    device.segments.push_back(segment);
    segment.address = 0x2000000;
    segment.alloc_event = 0;
    segment.stack = data;
    device.segments.push_back(segment);
    add_allocation(device, before_history, never, never, 0x1000000, 4096, 4096, 0);
    add_allocation(device, 1, 3, 4, 0x1001000, 1000, 1024, train);
    add_allocation(device, 2, 6, 8, 0x1001400, 2000, 2048, data);
    add_allocation(device, 5, never, never, 0x1001000, 1001, 1024, train);
    device.others.push_back({7, Action::oom, "oom", 100, 1 << 30, train});
    device.event_ref = {
        {Action::segment_alloc, 1},  {Action::alloc, 1}, {Action::alloc, 2},          {Action::free_requested, 1},
        {Action::free_completed, 1}, {Action::alloc, 3}, {Action::free_requested, 2}, {Action::oom, 0},
        {Action::free_completed, 2}};
    for (int64_t i = 0; i < 9; ++i) {
        device.event_time.push_back(i * 1000);
    }
    trace.devices.push_back(std::move(device));
    return trace;
}

}  // namespace tidemark::test
