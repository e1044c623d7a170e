// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/selection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {
constexpr size_t longest_history = 200;

void forget_memory(SelectionState& state) {
    state.memory.reset();
    state.memory_name.clear();
}

/// Returns whether two states differ in their time only, which is no step of the history.
bool same_selection(const SelectionState& a, const SelectionState& b) {
    return a.device == b.device && a.allocation == b.allocation && a.stack == b.stack && a.segment == b.segment &&
           a.range == b.range && a.node == b.node && a.memory == b.memory && a.memory_name == b.memory_name;
}
}  // namespace

bool contains(const AllocationSet& set, AllocationIndex allocation) {
    return set && std::binary_search(set->begin(), set->end(), allocation);
}

Selection::Selection(QObject* parent) : QObject(parent) {}

void Selection::apply(const SelectionState& next, bool remember) {
    const SelectionState before = state_;
    if (next == before) {
        return;
    }
    if (remember && !same_selection(before, next)) {
        past_.push_back(before);
        if (past_.size() > longest_history) {
            past_.erase(past_.begin());
        }
        future_.clear();
    }
    state_ = next;
    if (before.device != next.device) {
        set_hovered({});
    }
    if (before.device != next.device) {
        emit device_changed();
    }
    if (before.time_point != next.time_point || before.device != next.device) {
        emit time_point_changed();
    }
    if (!same_selection(before, next)) {
        emit selected_changed();
        emit history_changed();
    }
}

void Selection::set_time_point(TimePoint time_point) {
    SelectionState next = state_;
    const EventNumber last =
        trace_ && !trace_->devices.empty() ? trace_->devices[static_cast<size_t>(state_.device)].event_count() : 0;
    time_point.event = std::clamp<EventNumber>(time_point.event, 0, last);
    next.time_point = time_point;
    apply(next, false);
}

void Selection::select_allocation(AllocationIndex allocation) {
    if (trace_ == nullptr || trace_->devices.empty()) {
        return;
    }
    SelectionState next = state_;
    if (!contains(next.memory, allocation)) {
        forget_memory(next);
    }
    next.allocation = allocation;
    next.node.reset();
    if (allocation != no_allocation) {
        const DeviceHistory& device = trace_->devices[static_cast<size_t>(state_.device)];
        const Allocations& all = device.allocations;
        if (allocation >= all.size()) {
            return;
        }
        next.stack = all.stack[allocation] ? std::optional(all.stack[allocation]) : std::nullopt;
        next.segment = all.segment[allocation];
        if (!is_active_at(all, allocation, next.time_point)) {
            next.time_point = std::min<EventNumber>(all.alloc_event[allocation] + 1, device.event_count());
        }
    }
    apply(next, true);
}

void Selection::select_stack(std::optional<StackId> stack) {
    SelectionState next = state_;
    forget_memory(next);
    next.stack = stack;
    next.node.reset();
    next.allocation = no_allocation;
    next.segment = no_segment;
    apply(next, true);
}

void Selection::select_segment(uint32_t segment) {
    SelectionState next = state_;
    forget_memory(next);
    next.segment = segment;
    next.node.reset();
    next.allocation = no_allocation;
    next.stack.reset();
    apply(next, true);
}

void Selection::select_node(std::optional<NodeIndex> node) {
    SelectionState next = state_;
    forget_memory(next);
    next.node = node;
    next.allocation = no_allocation;
    next.segment = no_segment;
    next.stack.reset();
    apply(next, true);
}

void Selection::set_hovered(std::vector<AllocationIndex> allocations) {
    if (allocations != hovered_) {
        hovered_ = std::move(allocations);
        emit hovered_changed();
    }
}

void Selection::select_range(std::optional<std::pair<double, double>> range) {
    SelectionState next = state_;
    if (range && range->first > range->second) {
        std::swap(range->first, range->second);
    }
    next.range = range;
    if (before_preview_) {
        // The drag already showed its range; the step back goes to its beginning.
        const SelectionState before = *std::exchange(before_preview_, std::nullopt);
        state_.range = before.range;
    }
    apply(next, true);
    emit range_moved();
}

void Selection::preview_range(std::optional<std::pair<double, double>> range) {
    if (!before_preview_) {
        before_preview_ = state_;
    }
    state_.range = range;
    emit range_moved();
}

void Selection::select_memory(AllocationSet memory, const QString& name, bool is_step) {
    SelectionState next;
    next.device = state_.device;
    next.time_point = state_.time_point;
    next.range = state_.range;
    next.memory = std::move(memory);
    next.memory_name = name;
    apply(next, is_step);
}

void Selection::select(const SelectionState& next) {
    const bool moves_range = next.range != state_.range;
    apply(next, true);
    if (moves_range) {
        emit range_moved();
    }
}

void Selection::select_device(int position) {
    if (trace_ == nullptr || position < 0 || position >= static_cast<int>(trace_->devices.size()) ||
        position == state_.device) {
        return;
    }
    SelectionState next;
    next.device = position;
    apply(next, true);
}

void Selection::clear() {
    SelectionState next;
    next.device = state_.device;
    next.time_point = state_.time_point;
    apply(next, true);
}

void Selection::set_trace(const Trace* trace) {
    trace_ = trace;
    past_.clear();
    future_.clear();
    hovered_.clear();
    state_ = {};
    emit device_changed();
    emit time_point_changed();
    emit selected_changed();
    emit history_changed();
}

namespace {

/// The sets of the trace before, and the same in the longer trace.
using MovedSets = std::map<AllocationSet, AllocationSet>;

AllocationSet moved(const AllocationSet& set, const DeviceHistory& before, const DeviceHistory& after,
                    MovedSets& known) {
    const auto [found, is_new] = known.try_emplace(set);
    if (is_new && set) {
        std::vector<AllocationIndex> allocations;
        for (const AllocationIndex a : *set) {
            if (const auto now = after.find_allocation(before.allocation_id(a))) {
                allocations.push_back(*now);
            }
        }
        std::sort(allocations.begin(), allocations.end());
        found->second = std::make_shared<const std::vector<AllocationIndex>>(std::move(allocations));
    }
    return found->second;
}

/// Devices and allocations keep their identity while a trace grows, but not always their index.
void move_to(SelectionState& state, const Trace& before, const Trace& after, MovedSets& known) {
    if (before.devices.empty()) {
        return;
    }
    const DeviceHistory& device = before.devices[static_cast<size_t>(state.device)];
    const auto found = std::find_if(after.devices.begin(), after.devices.end(),
                                    [&](const DeviceHistory& d) { return d.device == device.device; });
    if (found == after.devices.end()) {
        state = {};
        return;
    }
    state.device = static_cast<int>(found - after.devices.begin());
    // If the writer deleted details before it, the state has another number in memory.
    const TimePoint point = state.time_point;
    state.time_point = point.repeated || point.between
                           ? time_point_at(after, *found, time_of(device, point))
                           : TimePoint(found->numbers.state(device.numbers.in_file(point.event)));
    if (state.allocation != no_allocation) {
        state.allocation = found->find_allocation(device.allocation_id(state.allocation)).value_or(no_allocation);
    }
    state.memory = moved(state.memory, device, *found, known);
}

}  // namespace

void Selection::grow(const Trace& trace) {
    MovedSets known;
    for (SelectionState* state : {&state_, before_preview_ ? &*before_preview_ : nullptr}) {
        if (state != nullptr) {
            move_to(*state, *trace_, trace, known);
        }
    }
    for (auto* history : {&past_, &future_}) {
        for (SelectionState& state : *history) {
            move_to(state, *trace_, trace, known);
        }
    }
    trace_ = &trace;
    hovered_.clear();
}

void Selection::renumber_nodes(const std::function<NodeIndex(NodeIndex)>& number) {
    const auto renumber = [&](SelectionState& state) {
        if (state.node) {
            const NodeIndex node = number(*state.node);
            state.node = node == no_node ? std::nullopt : std::optional(node);
        }
    };
    renumber(state_);
    if (before_preview_) {
        renumber(*before_preview_);
    }
    for (auto* history : {&past_, &future_}) {
        std::for_each(history->begin(), history->end(), renumber);
    }
}

bool Selection::can_go_back() const { return !past_.empty(); }
bool Selection::can_go_forward() const { return !future_.empty(); }

void Selection::forget_history() {
    past_.clear();
    future_.clear();
    emit history_changed();
}

void Selection::back() {
    if (past_.empty()) {
        return;
    }
    const SelectionState next = past_.back();
    past_.pop_back();
    future_.push_back(state_);
    apply(next, false);
    emit history_changed();
}

void Selection::forward() {
    if (future_.empty()) {
        return;
    }
    const SelectionState next = future_.back();
    future_.pop_back();
    past_.push_back(state_);
    apply(next, false);
    emit history_changed();
}

}  // namespace tidemark::gui
