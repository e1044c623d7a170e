// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/driver_events.h"

#include <array>

#include "storage/allocator/rules.h"

namespace tidemark::recorder {

namespace {

using std::chrono::milliseconds;

/// Messages of other threads about PyTorch may be read later than the first allocations: it looks again.
constexpr auto time_between_looks = milliseconds(100);
constexpr auto longest_wait_for_torch = milliseconds(2000);
/// Limit of allocations and frees that wait. PyTorch needs no driver memory before it initializes CUDA.
constexpr size_t most_waiting = 1 << 18;

bool has_handle(uint8_t memory) { return memory == TIDEMARK_MEMORY_ARRAY || memory == TIDEMARK_MEMORY_PHYSICAL; }

}  // namespace

void DriverEvents::on_record(const tidemark_record& record, const ThreadDefinitions& thread) {
    if (record.driver.events == 0 || record.detail > TIDEMARK_DRIVER_FREE || record.driver.size > largest_size ||
        owner_ == EventOwner::caching_allocator) {
        return;
    }
    if (owner_ == EventOwner::driver) {
        emit(record, thread);
        return;
    }
    if (!first_) {
        first_ = last_look_ = Clock::now();
    }
    waiting_.push_back({record, &thread});
    if (waiting_.size() >= most_waiting) {
        own();
    }
}

bool DriverEvents::allocator_begins() {
    if (owner_ == EventOwner::undecided) {
        owner_ = EventOwner::caching_allocator;
        waiting_ = {};
    }
    return owner_ == EventOwner::caching_allocator;
}

void DriverEvents::own() {
    if (owner_ != EventOwner::undecided) {
        return;
    }
    owner_ = EventOwner::driver;
    header_.driver_owns_events.store(1, std::memory_order_release);
    writer_.meta("recorded.events_of", "driver");
    for (const Waiting& waiting : std::exchange(waiting_, {})) {
        emit(waiting.record, *waiting.thread);
    }
}

void DriverEvents::decide(const std::function<TorchUse()>& torch, bool at_end) {
    if (owner_ != EventOwner::undecided || !first_) {
        return;
    }
    const auto now = Clock::now();
    if (!at_end && now - last_look_ < time_between_looks) {
        return;
    }
    last_look_ = now;
    const TorchUse use = torch();
    // Once PyTorch uses CUDA, its allocator reports its state, or the program reports that it cannot.
    if (at_end || !use.is_imported || (!use.uses_cuda && now - *first_ >= longest_wait_for_torch)) {
        own();
    }
}

/// Passes a change of driver memory as the events of a segment with one block.
void DriverEvents::emit(const tidemark_record& change, const ThreadDefinitions& thread) {
    constexpr std::array<Action, TIDEMARK_EVENTS_OF_DRIVER_ALLOC> of_alloc{Action::segment_alloc, Action::alloc};
    constexpr std::array<Action, TIDEMARK_EVENTS_OF_DRIVER_FREE> of_free{Action::free_requested, Action::free_completed,
                                                                         Action::segment_free};
    const auto& driver = change.driver;
    DeviceTrack* track = track_(driver.device);
    if (track == nullptr) {
        return;
    }
    track->begin_with_driver();
    const bool is_alloc = change.detail == TIDEMARK_DRIVER_ALLOC;
    const std::span<const Action> actions = is_alloc ? std::span<const Action>(of_alloc) : of_free;
    const uint64_t whole = (driver.size + min_block_size - 1) / min_block_size * min_block_size;
    tidemark_record event{};
    event.kind = TIDEMARK_EVENT;
    event.ticks = change.ticks;
    event.event.address = has_handle(driver.memory) ? driver.handle : driver.address;
    event.event.stack = driver.stack;
    event.event.stack_thread = driver.stack_thread;
    event.event.op = driver.op;
    event.event.phase = driver.phase;
    event.event.device = driver.device;
    for (size_t i = 0; i < actions.size() && i < driver.events; ++i) {
        const bool is_segment = actions[i] == Action::segment_alloc || actions[i] == Action::segment_free;
        event.detail = static_cast<uint8_t>(actions[i]);
        event.event.sequence = driver.sequence + i;
        event.event.size = is_segment ? whole : driver.size;
        track->on_event({event, &thread, 0});
    }
}

}  // namespace tidemark::recorder
