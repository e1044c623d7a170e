// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator of a simulated program, and traffic on it.
#include <algorithm>
#include <utility>

#include "tests/recorder/simulated_program.h"

namespace tidemark::test {

namespace {

const AllocatorSettings settings;
constexpr uint64_t small_part = 2 << 20, large_part = 20 << 20;

}  // namespace

MemoryMessage SimulatedAllocator::memory(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    return {static_cast<uint8_t>(device_), address, next_};
}

int64_t SimulatedAllocator::allocation_id(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    return event_id(device_, lifetimes_[open_.at(address)].alloc_event);
}

void SimulatedAllocator::emit(SimulatedThread& thread, Action action, uint64_t address, uint64_t size,
                              const EventContext& context) {
    if (!recording_) {
        return;
    }
    tidemark_record record =
        record_of(TIDEMARK_EVENT, static_cast<int>(action) | (context.is_light ? TIDEMARK_EVENT_LIGHT : 0));
    record.event.sequence = next_++;
    record.event.address = address;
    record.event.size = size;
    record.event.stack = context.stack;
    record.event.stack_thread = context.stack_thread;
    record.event.op = context.op;
    record.event.phase = context.phase;
    record.event.device = static_cast<uint8_t>(device_);
    dropped_ += !thread.push(record, nullptr, 0, patience_);
}

uint64_t SimulatedAllocator::new_segment(SimulatedThread& thread, uint64_t rounded, bool is_large) {
    const uint64_t part = is_large ? large_part : small_part;
    const uint64_t size = expandable_ || rounded <= part || !is_large
                              ? (rounded + part - 1) / part * part
                              : (rounded + small_part - 1) / small_part * small_part;
    const uint64_t address = next_address_;
    next_address_ += size + (uint64_t{1} << 30);
    const Action action = expandable_ ? Action::segment_map : Action::segment_alloc;
    Segment row;
    row.address = address;
    row.size = size;
    row.is_large = is_large;
    row.is_expandable = expandable_;
    row.alloc_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
    segments_[address] = {size, is_large, static_cast<uint32_t>(rows_.size())};
    rows_.push_back(row);
    emit(thread, action, address, size, {});
    blocks_[address] = {size, 0, 0, address};
    free_[is_large].emplace(size, address);
    return address;
}

uint64_t SimulatedAllocator::allocate(SimulatedThread& thread, uint64_t bytes, const EventContext& context) {
    const std::lock_guard lock(mutex_);
    const uint64_t rounded = round_size(settings, bytes);
    const bool is_large = rounded > small_size;
    auto& pool = free_[is_large];
    auto found = pool.lower_bound({rounded, 0});
    if (found == pool.end()) {
        new_segment(thread, rounded, is_large);
        found = pool.lower_bound({rounded, 0});
    }
    const uint64_t address = found->second;
    pool.erase(found);
    Block& block = blocks_[address];
    if (should_split(settings, rounded, block.size - rounded, is_large, expandable_) && block.size > rounded) {
        blocks_[address + rounded] = {block.size - rounded, 0, 0, block.segment};
        pool.emplace(block.size - rounded, address + rounded);
        block.size = rounded;
    }
    block.state = 1;
    block.requested = bytes;
    Allocation lifetime;
    lifetime.alloc_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
    lifetime.address = address;
    lifetime.requested = bytes;
    lifetime.block_size = block.size;
    lifetime.segment = segments_[block.segment].index;
    if (forgotten_.empty()) {
        open_[address] = lifetimes_.size();
        lifetimes_.push_back(lifetime);
    } else {
        open_[address] = forgotten_.back();
        lifetimes_[forgotten_.back()] = lifetime;
        forgotten_.pop_back();
    }
    allocated_ += block.size;
    peak_ = std::max(peak_, allocated_);
    emit(thread, Action::alloc, address, bytes, context);
    return address;
}

void SimulatedAllocator::free(SimulatedThread& thread, uint64_t address, bool at_once, const EventContext& context) {
    {
        const std::lock_guard lock(mutex_);
        Block& block = blocks_[address];
        block.state = 2;
        allocated_ -= block.size;
        lifetimes_[open_[address]].free_event = recording_ ? static_cast<EventNumber>(next_) : before_history;
        emit(thread, Action::free_requested, address, block.requested, context);
    }
    if (at_once) {
        complete_free(thread, address);
    }
}

void SimulatedAllocator::complete_free(SimulatedThread& thread, uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    lifetimes_[open_[address]].free_completed = recording_ ? static_cast<EventNumber>(next_) : before_history;
    if (forgets_) {
        forgotten_.push_back(open_[address]);
    }
    open_.erase(address);
    emit(thread, Action::free_completed, address, block->second.requested, {});
    merge(block);
}

void SimulatedAllocator::merge(std::map<uint64_t, Block>::iterator block) {
    block->second.state = 0;
    block->second.requested = 0;
    auto& pool = free_[segments_[block->second.segment].is_large];
    const auto take_out = [&](std::map<uint64_t, Block>::iterator b) { pool.erase({b->second.size, b->first}); };
    if (const auto next = std::next(block);
        next != blocks_.end() && next->second.state == 0 && next->second.segment == block->second.segment) {
        take_out(next);
        block->second.size += next->second.size;
        blocks_.erase(next);
    }
    if (block != blocks_.begin()) {
        const auto before = std::prev(block);
        if (before->second.state == 0 && before->second.segment == block->second.segment) {
            take_out(before);
            before->second.size += block->second.size;
            blocks_.erase(block);
            block = before;
        }
    }
    pool.emplace(block->second.size, block->first);
}

void SimulatedAllocator::empty_cache(SimulatedThread& thread) {
    const std::lock_guard lock(mutex_);
    for (auto segment = segments_.begin(); segment != segments_.end();) {
        const auto block = blocks_.find(segment->first);
        if (block->second.state != 0 || block->second.size != segment->second.size) {
            ++segment;
            continue;
        }
        free_[segment->second.is_large].erase({block->second.size, block->first});
        rows_[segment->second.index].free_event = static_cast<EventNumber>(next_);
        emit(thread, expandable_ ? Action::segment_unmap : Action::segment_free, segment->first, segment->second.size,
             {});
        blocks_.erase(block);
        segment = segments_.erase(segment);
    }
}

void SimulatedAllocator::report_state(SimulatedThread& thread, uint8_t purpose) { report(thread, purpose, 0); }
void SimulatedAllocator::report_wrong_state(SimulatedThread& thread) { report(thread, TIDEMARK_STATE_CHECK, 512); }

void SimulatedAllocator::report(SimulatedThread& thread, uint8_t purpose, uint64_t lie) {
    const std::lock_guard lock(mutex_);
    const auto part = [&](uint8_t detail) {
        tidemark_record record = record_of(TIDEMARK_STATE, detail);
        record.state.device = static_cast<uint8_t>(device_);
        return record;
    };
    tidemark_record begin = part(TIDEMARK_STATE_BEGIN);
    begin.state.sequence = next_;
    begin.state.flags = purpose;
    thread.push(begin);
    for (const auto& [address, segment] : segments_) {
        tidemark_record record = part(TIDEMARK_STATE_SEGMENT);
        record.state.address = address;
        record.state.size = segment.size;
        record.state.flags = static_cast<uint8_t>((segment.is_large ? TIDEMARK_SEGMENT_LARGE : 0) |
                                                  (expandable_ ? TIDEMARK_SEGMENT_EXPANDABLE : 0));
        thread.push(record);
    }
    for (const auto& [address, block] : blocks_) {
        if (block.state == 0) {
            continue;
        }
        tidemark_record record = part(TIDEMARK_STATE_BLOCK);
        record.state.address = address;
        record.state.size = block.size;
        record.state.requested = block.requested - std::exchange(lie, 0);
        record.state.flags = block.state == 1 ? TIDEMARK_BLOCK_ALLOCATED : TIDEMARK_BLOCK_PENDING;
        thread.push(record);
    }
    thread.push(part(TIDEMARK_STATE_END));
    if (purpose == TIDEMARK_STATE_START) {
        recording_ = true;
        peak_ = allocated_;
    }
}

DeviceHistory SimulatedAllocator::truth() const {
    const std::lock_guard lock(mutex_);
    DeviceHistory history;
    history.device = device_;
    // Allocations that were freed before the recording are not part of it. The others are in the order of a trace.
    std::vector<Allocation> lifetimes;
    for (const Allocation& lifetime : lifetimes_) {
        if (lifetime.free_completed != before_history) {
            lifetimes.push_back(lifetime);
        }
    }
    std::stable_sort(lifetimes.begin(), lifetimes.end(), [](const Allocation& a, const Allocation& b) {
        const bool both_old = a.alloc_event == before_history && b.alloc_event == before_history;
        return both_old ? a.address < b.address : a.alloc_event < b.alloc_event;
    });
    for (const Allocation& lifetime : lifetimes) {
        history.allocations.push_back(lifetime);
    }
    history.segments = rows_;
    return history;
}

Traffic::Traffic(SimulatedAllocator& allocator, SimulatedThread& thread, uint32_t seed)
    : allocator_(allocator), thread_(thread), random_(seed) {
    for (int i = 0; i < 20; ++i) {
        stacks_.push_back(thread_.stack({{"forward", 10 + i}, {"train", 3}, {"<module>", 90}}));
    }
    for (const char* name : {"aten::linear", "aten::add", "aten::softmax", "aten::empty"}) {
        const uint32_t outer = thread_.op(TIDEMARK_SCOPE_OP, name, 0);
        ops_.push_back(outer);
        ops_.push_back(thread_.op(TIDEMARK_SCOPE_OP, "aten::empty", outer));
    }
}

EventContext Traffic::context() {
    return {stacks_[random_() % stacks_.size()], ops_[random_() % ops_.size()], 0,
            static_cast<uint8_t>(1 + random_() % 3)};
}

void Traffic::run(int64_t allocations) {
    for (int64_t i = 0; i < allocations; ++i) {
        const uint64_t bytes = 1 + (random_() % 8 == 0 ? random_() % (24 << 20) : random_() % (600 << 10));
        mine_.push_back(allocator_.allocate(thread_, bytes, context()));
        while (mine_.size() > 200 || (!mine_.empty() && random_() % 3 == 0)) {
            const size_t selected = random_() % mine_.size();
            const uint64_t address = mine_[selected];
            mine_[selected] = mine_.back();
            mine_.pop_back();
            const bool at_once = random_() % 16 != 0;
            allocator_.free(thread_, address, at_once, context());
            if (!at_once) {
                pending_.push_back(address);
            }
        }
        if (pending_.size() > 5) {
            for (const uint64_t address : pending_) {
                allocator_.complete_free(thread_, address);
            }
            pending_.clear();
        }
    }
}

void Traffic::free_all() {
    for (const uint64_t address : mine_) {
        allocator_.free(thread_, address, true, context());
    }
    for (const uint64_t address : pending_) {
        allocator_.complete_free(thread_, address);
    }
    mine_.clear();
    pending_.clear();
}

}  // namespace tidemark::test
