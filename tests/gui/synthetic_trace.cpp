// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "synthetic_trace.h"

#include <algorithm>

#include "tests/unit/run_builder.h"

namespace tidemark::gui::test {

namespace {

/// Writes one device's history event by event.
class Recorder {
public:
    Recorder(Trace& trace, int index) : trace_(trace) { device_.device = index; }

    AllocationIndex allocate(uint64_t bytes, StackId stack) {
        Allocations& all = device_.allocations;
        all.push_back({device_.event_count(), never, never, next_address_, bytes - 100, bytes, stack, 0, 0, 0});
        next_address_ += bytes;
        add(Action::alloc, all.size() - 1);
        return all.size() - 1;
    }

    void release(AllocationIndex a) {
        device_.allocations.free_event[a] = device_.event_count();
        add(Action::free_requested, a);
        device_.allocations.free_completed[a] = device_.event_count();
        add(Action::free_completed, a);
    }

    void out_of_memory(uint64_t requested, uint64_t free) {
        OtherEvent other;
        other.event = device_.event_count();
        other.action = Action::oom;
        other.name = "oom";
        other.address = free;
        other.size = requested;
        device_.others.push_back(other);
        add(Action::oom, static_cast<uint32_t>(device_.others.size()) - 1);
    }

    void finish() {
        Segment segment;
        segment.address = first_address;
        segment.size = next_address_ - first_address;
        segment.is_large = true;
        device_.segments.push_back(segment);
        trace_.duration = std::max(trace_.duration, now());
        trace_.devices.push_back(std::move(device_));
    }

    int64_t now() const { return device_.event_time.empty() ? 0 : device_.event_time.back(); }
    EventNumber events() const { return device_.event_count(); }

private:
    void add(Action action, uint32_t index) {
        device_.event_time.push_back(static_cast<int64_t>(device_.event_time.size()) * 1000);
        device_.event_ref.emplace_back(action, index);
    }

    static constexpr uint64_t first_address = 0x7f0000000000;
    Trace& trace_;
    DeviceHistory device_;
    uint64_t next_address_ = first_address;
};

std::vector<StackId> make_stacks(StackTable& table) {
    std::vector<StackId> stacks;
    const StringId file = table.intern("/home/user/train.py");
    for (int line = 1; line <= 4; ++line) {
        const FrameId frame = table.intern(Frame{table.intern("step_" + std::to_string(line)), file, line * 10});
        stacks.push_back(table.intern(StackEntry{0, frame}));
    }
    return stacks;
}

void record_step(Recorder& recorder, const SyntheticShape& shape, int step, const std::vector<StackId>& stacks) {
    std::vector<AllocationIndex> made;
    for (int i = 0; i < 8; ++i) {
        made.push_back(recorder.allocate(static_cast<uint64_t>(shape.step_bytes / 8),
                                         stacks[static_cast<size_t>(i) % stacks.size()]));
    }
    if (step == shape.spike_step) {
        recorder.release(recorder.allocate(static_cast<uint64_t>(shape.spike_bytes), stacks[0]));
    }
    for (size_t i = static_cast<size_t>(shape.leaked_per_step); i < made.size(); ++i) {
        recorder.release(made[i]);
    }
}

}  // namespace

std::shared_ptr<const Trace> synthetic_trace(const SyntheticShape& shape) {
    auto trace = std::make_shared<Trace>();
    trace->path = "synthetic.tide";
    trace->source = "made by a test";
    trace->streams.push_back({0, ""});
    trace->pools.push_back({});
    trace->origins.emplace_back();
    const std::vector<StackId> stacks = make_stacks(trace->stacks);
    for (int d = 0; d < shape.devices; ++d) {
        Recorder recorder(*trace, d);
        for (int step = 0; step < shape.steps; ++step) {
            Annotation annotation;
            annotation.name = "step " + std::to_string(step);
            annotation.kind = AnnotationKind::step;
            annotation.device = d;
            annotation.start = recorder.now();
            record_step(recorder, shape, step, stacks);
            annotation.end = recorder.now();
            trace->annotations.push_back(annotation);
        }
        Mark mark;
        mark.name = "after training";
        mark.time = recorder.now();
        mark.events[d] = recorder.events();
        trace->marks.push_back(mark);
        if (shape.oom) {
            recorder.out_of_memory(1 << 30, 1 << 20);
        }
        recorder.finish();
    }
    trace->data_gaps.push_back({DataGapKind::no_stacks, 0, 0, 1, 1, DataGapReason::no_stacks, {}, {}});
    return trace;
}

std::shared_ptr<Session> synthetic_session(const SyntheticShape& shape) {
    const auto trace = synthetic_trace(shape);
    return std::make_shared<Session>(trace, Session::analyze(trace));
}

std::shared_ptr<const Trace> run_with_repeated_steps(uint64_t added) {
    constexpr uint64_t MiB = uint64_t{1} << 20;
    constexpr int64_t millisecond = tidemark::test::RunBuilder::millisecond;
    tidemark::test::RunBuilder run;
    run.segment(64 * MiB);
    run.alloc(MiB);
    run.step();
    const AllocationIndex a = run.alloc(2 * MiB), b = run.alloc(4 * MiB);
    run.free(b);
    run.free(a);
    run.step();
    const int64_t end_of_first = run.now();
    if (added > 0) {
        run.alloc(added);
    }
    RepeatedSteps& steps = run.device().repeats.emplace_back();
    steps.event = steps.after = run.device().event_count();
    steps.start = run.now();
    steps.like = end_of_first;
    steps.end = run.now() + 40 * millisecond;
    steps.count = 2;
    steps.events_left_out = 12;
    steps.peak_allocated = steps.peak_active = steps.peak_requested = static_cast<int64_t>(7 * MiB + added);
    for (const int64_t number : {2, 3}) {
        const int64_t start = std::max(*run.trace.steps.back().end, steps.start);
        run.trace.steps.push_back({number, StepSource::optimizer, start, start + 20 * millisecond});
    }
    run.trace.duration = steps.end + 10 * millisecond;
    return std::make_shared<const Trace>(run.trace);
}

}  // namespace tidemark::gui::test
