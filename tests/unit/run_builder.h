// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Builds a run on one device event by event: allocations, frees and segments, one event per millisecond.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "storage/explain/analysis_context.h"
#include "tests/unit/sample_trace.h"

namespace tidemark::test {

class RunBuilder {
public:
    RunBuilder() {
        trace.streams = {{0, ""}};
        trace.pools = {Pool{}};
        trace.origins = {Origin{}};
        trace.processes = {{100, {}, "python train.py", 0, std::nullopt, std::nullopt, {}}};
        trace.devices.resize(1);
    }

    StackId line(const std::string& function, const std::string& file = "/home/anna/project/train.py") {
        return stack_of(trace.stacks, {{file, function}});
    }
    uint32_t origin(const std::string& op) {
        Origin origin;
        origin.op = op;
        trace.origins.push_back(origin);
        return static_cast<uint32_t>(trace.origins.size() - 1);
    }

    /// Adds a segment of the driver. Later allocations lie in it. Returns its index.
    uint32_t segment(uint64_t bytes, uint32_t stream = 0, uint32_t pool = 0) {
        Segment segment;
        segment.address = address_;
        segment.size = bytes;
        segment.stream = stream;
        segment.pool = pool;
        segment.alloc_event = event(Action::segment_alloc, static_cast<uint32_t>(device().segments.size()));
        device().segments.push_back(segment);
        next_ = address_;
        address_ += bytes;
        return static_cast<uint32_t>(device().segments.size() - 1);
    }
    /// Returns a segment without allocations to the driver.
    void return_segment(uint32_t segment, StackId stack) {
        device().segments[segment].free_stack = stack;
        device().segments[segment].free_event = event(Action::segment_free, segment);
    }
    AllocationIndex alloc(uint64_t bytes, StackId stack = 0, uint32_t origin = 0, uint32_t segment = 0) {
        const AllocationIndex a = add_allocation(device(), device().event_count(), never, never, next_, bytes,
                                                 (bytes + 511) / 512 * 512, stack);
        device().allocations.origin[a] = origin;
        device().allocations.segment[a] = segment;
        next_ += device().allocations.block_size[a];
        event(Action::alloc, a);
        return a;
    }
    void free(AllocationIndex a) {
        request_free(a);
        complete_free(a);
    }
    void request_free(AllocationIndex a) { device().allocations.free_event[a] = event(Action::free_requested, a); }
    void complete_free(AllocationIndex a) { device().allocations.free_completed[a] = event(Action::free_completed, a); }
    /// Adds an out-of-memory error.
    void out_of_memory(uint64_t requested, uint64_t free_on_device, StackId stack, uint32_t origin = 0) {
        OtherEvent oom;
        oom.action = Action::oom;
        oom.size = requested;
        oom.address = free_on_device;
        oom.stack = stack;
        oom.origin = origin;
        oom.event = event(Action::oom, static_cast<uint32_t>(device().others.size()));
        device().others.push_back(oom);
    }
    /// Ends a step at the last event. The next one starts there.
    void step() {
        const int64_t start = trace.steps.empty() ? 0 : *trace.steps.back().end;
        trace.steps.push_back({static_cast<int64_t>(trace.steps.size()), StepSource::optimizer, start, now()});
    }

    /// Returns the time of the last event in ns.
    int64_t now() const { return static_cast<int64_t>(trace.devices[0].event_time.size() - 1) * millisecond; }
    DeviceHistory& device() { return trace.devices[0]; }

    /// Returns a context of the run so far, with a graph if `tables` is given.
    std::unique_ptr<AnalysisContext> make_context(std::shared_ptr<const GraphTables> tables = nullptr,
                                                  RunPart part = {}) {
        trace.duration = std::max(trace.duration, now());
        auto shared = std::make_shared<const Trace>(trace);
        const auto graph = tables ? std::make_shared<const tidemark::Graph>(shared, std::move(tables)) : nullptr;
        return std::make_unique<AnalysisContext>(std::make_shared<const Analysis>(shared, shared->devices[0]), graph,
                                                 part);
    }

    static constexpr int64_t millisecond = 1'000'000;
    Trace trace;

private:
    EventNumber event(Action action, uint32_t index) {
        device().event_time.push_back(static_cast<int64_t>(device().event_time.size()) * millisecond);
        device().event_ref.emplace_back(action, index);
        return device().event_count() - 1;
    }

    uint64_t next_ = 0x1000;        ///< address of the next allocation
    uint64_t address_ = 0x1000000;  ///< address of the next segment
};

}  // namespace tidemark::test
