// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/allocator_tracker.h"

#include <array>
#include <atomic>
#include <functional>
#include <utility>

#include "recorder/torch/detail_level.h"
#include "recorder/torch/labels.h"
#include "recorder/torch/light_steps.h"
#include "recorder/torch/repeated_work.h"
#include "recorder/torch/step_patterns.h"
#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

namespace {

constexpr int most_devices = 64;

enum class Counting : uint8_t { none, running, suspended };

/// Written under the allocator lock of the device only, but `counting`; atomic members are read by any thread.
struct DeviceEvents {
    std::atomic<Counting> counting{Counting::none};
    std::atomic<uint64_t> next{0};
    std::atomic<int> repeats{0};        ///< steps in a row that repeated known ones
    std::atomic<int64_t> allocated{0};  ///< allocations minus frees
    StepPatterns steps;
    uint64_t step = 0;   ///< number of the one that `steps` is in
    uint64_t needs = 0;  ///< of details, at its begin

    void begin() {
        steps.clear();
        next.store(0, std::memory_order_relaxed);
        repeats.store(0, std::memory_order_relaxed);
        counting.store(Counting::running, std::memory_order_release);
    }

    bool is_counted() const { return counting.load(std::memory_order_relaxed) != Counting::none; }
};
std::array<DeviceEvents, most_devices> devices;
std::atomic<bool> arming{false};
std::atomic<uint64_t> steps_ended{0};

/// A snapshot emits one marker per device, in device order. All markers carry device number 0.
thread_local int markers_seen = 0;
thread_local std::vector<uint64_t>* cuts = nullptr;

constexpr uint32_t longest_sample_wait_ms = 45;

int device_of(const TraceEntry& entry) {
    if (entry.action_ != TraceEntry::SNAPSHOT) [[likely]] {
        return entry.device_;
    }
    return markers_seen++ % std::max(1, device_count());
}

void arm(DeviceEvents& events) {
    if (arming.load(std::memory_order_acquire) && cuts != nullptr && !events.is_counted()) {
        events.begin();
    }
}

bool has_stack(TraceEntry::Action action) {
    return action == TraceEntry::ALLOC || action == TraceEntry::FREE_REQUESTED || action == TraceEntry::SEGMENT_ALLOC ||
           action == TraceEntry::SEGMENT_MAP || action == TraceEntry::SEGMENT_FREE ||
           action == TraceEntry::SEGMENT_UNMAP || action == TraceEntry::OOM;
}

/// Returns by how much the event changes the number of allocations.
int change_of_count(const TraceEntry& entry) {
    return static_cast<int>(entry.action_ == TraceEntry::ALLOC) -
           static_cast<int>(entry.action_ == TraceEntry::FREE_REQUESTED);
}

/// Describes an allocation or free, which steps repeat. Returns false for other events.
bool describe(const TraceEntry& entry, uint16_t thread, EventShape& shape) {
    const int change = change_of_count(entry);
    if (change == 0 && entry.action_ != TraceEntry::FREE_COMPLETED) [[unlikely]] {
        return false;
    }
    shape.change = change * static_cast<int64_t>(entry.size_);
    shape.action = static_cast<uint8_t>(entry.action_);
    shape.thread = thread;
    shape.size = entry.size_;
    shape.stream = reinterpret_cast<uintptr_t>(entry.stream_);
    if (const std::string& metadata = user_metadata_of(entry, 0); !metadata.empty()) [[unlikely]] {
        shape.metadata = std::hash<std::string>()(metadata);
    }
    return true;
}

/// Nobody asks for the memory of an op that is not observed.
void note_memory_of_op(const TraceEntry& entry, const DeviceAddress& memory, const PlaceKeys& place,
                       ThreadState& state) {
    if (!state.is_in_op()) {
        return;
    }
    if (entry.action_ == TraceEntry::ALLOC) {
        state.op_memory().allocated({memory, place});
    } else if (entry.action_ == TraceEntry::FREE_REQUESTED) {
        state.op_memory().freed(memory);
    }
}

/// An event of a device.
struct Event {
    const TraceEntry& entry;
    int device = 0;
    uint64_t number = 0;
    StepPatterns& steps;  ///< of the device
};

/// Finds out where the event comes from. Defines its texts and stacks first.
[[gnu::noinline]] EventOrigin origin_of(const Event& event, ThreadState& state, tidemark_ring* ring) {
    EventOrigin origin;
    const TraceEntry& entry = event.entry;
    if (has_stack(entry.action_)) {
        const Caller caller = state.caller();
        if (entry.action_ == TraceEntry::ALLOC && !caller.is_evaluating) {
            allocates_in_forward(state.wish);
        }
        origin.stack = caller.stack.id;
        origin.stack_thread = caller.stack.thread;
        origin.lines = caller.stack.lines;
        const EventOp op = state.op_of_event(static_cast<uint8_t>(entry.action_), caller);
        const DeviceAddress memory{static_cast<uint64_t>(entry.addr_), static_cast<uint8_t>(event.device)};
        note_memory_of_op(entry, memory, op.place, state);
        state.note_event(caller, op.place, event.number, memory);
        origin.op = op.op;
        origin.category = op.category;
        origin.phase = state.phase(caller);
        const auto pool = pool_of(entry, 0);
        origin.pool = state.pool(pool.first, pool.second);
        const std::string& context = compile_context_of(entry, 0);
        if (!context.empty()) {
            origin.context = static_cast<uint16_t>(core()->text(ring, context.data(), context.size()));
        }
    }
    return origin;
}

/// Ends the steps that have ended since the last event.
[[gnu::noinline]] void end_steps(DeviceEvents& events, uint64_t ended) {
    events.step = ended;
    if (const uint64_t needs = times_details_were_needed(); std::exchange(events.needs, needs) != needs) {
        events.steps.set_unlike();
    }
    if (!events.steps.end_step()) {
        resume_details();
    }
    events.repeats.store(events.steps.repeats(), std::memory_order_relaxed);
}

/// An event of a step that may be light, as the patterns of steps see it.
struct ComparedEvent {
    EventShape shape;
    bool can_repeat = false;
    bool compares_lines = false;
};

ComparedEvent compared(const Event& event, uint16_t thread) {
    ComparedEvent found;
    found.can_repeat = describe(event.entry, thread, found.shape) && thread != 0;
    // A node has the stack of its forward op, which light steps do not look up.
    found.compares_lines =
        event.steps.compares_lines() && has_stack(event.entry.action_) && executing_node() == nullptr;
    return found;
}

/// Returns the origin of an event of a light step: that of the event which it repeats; nullptr if there is none, and
/// then `event` cannot repeat or is not added yet.
const EventOrigin* repeated_origin(ComparedEvent& event, ThreadState& state, StepPatterns& steps) {
    if (event.compares_lines) [[unlikely]] {
        event.shape.lines = state.lines_here();
    }
    const EventOrigin* expected = event.can_repeat ? steps.expect(event.shape) : nullptr;
    if (expected != nullptr && !state.may_be_in(expected->phase)) [[unlikely]] {
        event.can_repeat = false;
        return nullptr;
    }
    return expected;
}

/// Returns the origin of an event of a step with details.
[[gnu::noinline]] EventOrigin new_origin(const Event& event, ComparedEvent& seen, ThreadState& state,
                                         tidemark_ring* ring) {
    const EventOrigin origin = origin_of(event, state, ring);
    seen.shape.lines = seen.compares_lines ? origin.lines : 0;
    if (seen.can_repeat) {
        event.steps.add(seen.shape, origin);
    } else {
        event.steps.set_unlike();
    }
    return origin;
}

/// Returns the origin of an event: none in a pause, and in a light step that of the event which it repeats.
EventOrigin find_origin(const Event& event, ThreadState& state, tidemark_ring* ring) {
    if (are_details_paused()) [[unlikely]] {
        event.steps.set_unlike();
        return {};
    }
    if (!steps_may_be_light()) [[unlikely]] {
        return origin_of(event, state, ring);
    }
    ComparedEvent seen = compared(event, ring->serial);
    if (!records_details()) {
        if (const EventOrigin* repeated = repeated_origin(seen, state, event.steps); repeated != nullptr) [[likely]] {
            EventOrigin origin = *repeated;
            origin.is_light = true;
            return origin;
        }
        resume_details();
    }
    return new_origin(event, seen, state, ring);
}

void report(const Event& event) {
    const TraceEntry& entry = event.entry;
    ThreadState& state = ThreadState::here();
    const MeasuredCallback measured(state);
    tidemark_ring* ring = state.ring();
    if (ring == nullptr) [[unlikely]] {
        return;  // the recorder detects the gap in the sequence
    }
    follow_pause(*ring);
    const EventOrigin origin = find_origin(event, state, ring);
    tidemark_record record{};
    record.kind = TIDEMARK_EVENT;
    record.detail =
        static_cast<uint8_t>(static_cast<unsigned>(entry.action_) | (origin.is_light ? TIDEMARK_EVENT_LIGHT : 0));
    record.ticks = ticks_of(entry);
    record.event.sequence = event.number;
    record.event.address = entry.addr_;
    record.event.size = entry.size_;
    record.event.stream = reinterpret_cast<uintptr_t>(entry.stream_);
    record.event.device = static_cast<uint8_t>(event.device);
    record.event.stack = origin.stack;
    record.event.stack_thread = origin.stack_thread;
    record.event.op = origin.op;
    record.event.phase = origin.phase;
    record.event.pool = origin.pool;
    record.event.context = origin.context;
    const std::string& metadata = user_metadata_of(entry, 0);
    core()->push(ring, &record, metadata.data(), static_cast<uint32_t>(metadata.size()));
    if (origin.category != TIDEMARK_CATEGORY_NONE && !origin.is_light) [[unlikely]] {
        report_label(origin.category, {record.event.address, record.event.device});
    }
}

void count_allocations(const TraceEntry& entry, DeviceEvents& events) {
    events.allocated.store(events.allocated.load(std::memory_order_relaxed) + change_of_count(entry),
                           std::memory_order_relaxed);
}

/// Handles an event. The allocator calls it under the device's lock, so it takes no lock that is held while memory is
/// allocated, calls nothing of PyTorch that takes one, and does not throw.
void on_event(const TraceEntry& entry) noexcept {
    const int device = device_of(entry);
    if (device < 0 || device >= most_devices) [[unlikely]] {
        return;
    }
    DeviceEvents& events = devices[static_cast<size_t>(device)];
    if (entry.action_ == TraceEntry::SNAPSHOT) [[unlikely]] {
        arm(events);
        if (cuts != nullptr) {
            cuts->push_back(events.next.load(std::memory_order_relaxed));
            return;  // our own snapshot is not an event of the program
        }
    }
    if (events.counting.load(std::memory_order_relaxed) != Counting::running) [[unlikely]] {
        return;
    }
    if (const uint64_t ended = steps_ended.load(std::memory_order_acquire);
        events.step != ended && steps_may_be_light()) [[unlikely]] {
        end_steps(events, ended);
    }
    count_allocations(entry, events);
    const uint64_t sequence = events.next.load(std::memory_order_relaxed);
    events.next.store(sequence + 1, std::memory_order_relaxed);
    report({entry, device, sequence, events.steps});
}

/// Handles an out-of-memory error. The allocator calls it without its lock, before it throws.
void on_out_of_memory(int64_t device, size_t asked, size_t total, size_t free) {
    const tidemark_api* api = core();
    tidemark_ring* ring = api->recording() ? api->this_thread() : nullptr;
    if (ring == nullptr) {
        return;
    }
    tidemark_record record{};
    record.kind = TIDEMARK_OOM;
    record.ticks = 0;
    record.oom.asked = asked;
    record.oom.total = total;
    record.oom.free = free;
    record.oom.device = static_cast<uint32_t>(device);
    const int64_t begin = recorder::monotonic_ns();
    record.oom.sampled = static_cast<uint32_t>(api->sample_now(longest_sample_wait_ms));
    api->push(ring, &record, nullptr, 0);
    tidemark_record wait{};
    wait.kind = TIDEMARK_COST;
    wait.detail = TIDEMARK_COST_WAIT;
    wait.cost.duration_ns = wait.cost.longest_ns = static_cast<uint64_t>(recorder::monotonic_ns() - begin);
    wait.cost.count = 1;
    api->push(ring, &wait, nullptr, 0);
}

}  // namespace

void attach_tracker() {
    allocator::attachAllocatorTraceTracker([](const TraceEntry& entry) { on_event(entry); });
    allocator::attachOutOfMemoryObserver(on_out_of_memory);
}

void arm_at_next_snapshot() { arming.store(true, std::memory_order_release); }

void arm_now() {
    for (DeviceEvents& events : devices) {
        events.begin();
    }
}

void disarm() {
    arming.store(false, std::memory_order_release);
    for (DeviceEvents& events : devices) {
        events.counting.store(Counting::none, std::memory_order_release);
    }
}

void suspend_events(bool suspend) {
    for (DeviceEvents& events : devices) {
        Counting before = suspend ? Counting::running : Counting::suspended;
        events.counting.compare_exchange_strong(before, suspend ? Counting::suspended : Counting::running,
                                                std::memory_order_acq_rel);
    }
}

Cut snapshot_with_cut() {
    Cut cut;
    markers_seen = 0;
    cuts = &cut.events_before;
    cut.snapshot = take_snapshot(*allocator::get(), 0);
    cuts = nullptr;
    return cut;
}

int device_count() {
    static const int count = c10::cuda::device_count();
    return std::min(count, most_devices);
}

uint64_t events_so_far(int device) {
    const DeviceEvents& events = devices[static_cast<size_t>(device)];
    return events.is_counted() ? events.next.load(std::memory_order_relaxed)
                               : core()->driver_events(static_cast<uint32_t>(device));
}

void count_step() { steps_ended.fetch_add(1, std::memory_order_release); }

int64_t allocations_so_far() {
    int64_t sum = 0;
    for (const DeviceEvents& events : devices) {
        sum += events.allocated.load(std::memory_order_relaxed);
    }
    return sum;
}

bool devices_repeat_steps(int steps) {
    static std::array<uint64_t, most_devices> seen{};
    bool repeat = true, any = false;
    for (size_t i = 0; i < devices.size(); ++i) {
        const uint64_t events = devices[i].next.load(std::memory_order_relaxed);
        const bool has_new = seen[i] != events;
        seen[i] = events;
        any |= has_new;
        repeat &= !has_new || devices[i].repeats.load(std::memory_order_relaxed) >= steps;
    }
    return any && repeat;
}

}  // namespace tidemark::plugin
