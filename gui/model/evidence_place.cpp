// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/evidence_place.h"

#include <algorithm>
#include <utility>

#include "gui/model/explained.h"
#include "gui/model/text.h"
#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

bool is_about_segments(FindingKind kind) {
    switch (kind) {
        case FindingKind::fragmentation:
        case FindingKind::out_of_memory:
        case FindingKind::block_reuse:
        case FindingKind::cuda_graph_pools_grow:
        case FindingKind::pending_free: return true;
        default: return false;
    }
}

/// Returns the same allocation in the current trace; no_allocation if it is of another device.
AllocationIndex allocation_now(const Session& session, const Explained& explained, AllocationRef allocation) {
    if (!allocation || allocation.device != explained.context->device_position()) {
        return no_allocation;
    }
    if (&explained.context->trace() == &session.trace()) {
        return allocation.index;
    }
    const int64_t id = explained.context->device().allocation_id(allocation.index);
    return session.device().find_allocation(id).value_or(no_allocation);
}

QString name_of_memory(const SelectionState& state, const Finding& finding) {
    return state.memory ? to_qstring(finding.title) : QString();
}

/// Returns the finding's memory in the current trace. The explanation's own set is shared, so that it remains one
/// selection, whatever evidence is shown.
AllocationSet memory_now(const Session& session, const std::shared_ptr<const Explained>& explained,
                         const Finding& finding) {
    const std::vector<AllocationIndex>& memory = finding.memory.allocations;
    if (memory.empty()) {
        return nullptr;
    }
    if (&explained->context->trace() == &session.trace()) {
        return {explained, &memory};
    }
    std::vector<AllocationIndex> now;
    for (const AllocationIndex a : memory) {
        if (const AllocationIndex found =
                allocation_now(session, *explained, {explained->context->device_position(), a});
            found != no_allocation) {
            now.push_back(found);
        }
    }
    std::sort(now.begin(), now.end());
    return std::make_shared<const std::vector<AllocationIndex>>(std::move(now));
}

/// Returns whether the evidence is one of the allocations that a leak retains. When it was made, nothing showed that
/// yet, and what describes that state would deny the finding.
bool is_retained_memory(const Finding& finding, const Evidence& evidence) {
    return finding.severity == Severity::leak && evidence.allocation &&
           std::binary_search(finding.memory.allocations.begin(), finding.memory.allocations.end(),
                              evidence.allocation.index);
}

std::optional<NodeIndex> node_now(const Session& session, const Explained& explained, NodeIndex node) {
    if (node == no_node || !session.graph() || explained.context->graph() == nullptr) {
        return std::nullopt;
    }
    const NodeIndex found = session.graph()->index.find(explained.context->graph()->tables().nodes.id[node]);
    return found == no_node ? std::nullopt : std::optional(found);
}

/// Returns whether the finding's stack allocated memory of PyTorch. To highlight that of a driver call would only dim
/// everything.
bool is_of_pytorch(const Finding& finding) {
    return !finding.component || *finding.component <= ComponentKind::private_pools;
}

EventNumber state_now(const DeviceHistory& device, EventNumber event) {
    return std::clamp<EventNumber>(event, 0, device.event_count());
}

void add_allocation(const DeviceHistory& device, AllocationIndex allocation, bool has_no_time, SelectionState& state) {
    const Allocations& all = device.allocations;
    state.allocation = allocation;
    state.stack = all.stack[allocation] != 0 ? std::optional(all.stack[allocation]) : std::nullopt;
    state.segment = all.segment[allocation];
    if (has_no_time && !is_active_at(all, allocation, state.time_point)) {
        state.time_point = std::min<EventNumber>(all.alloc_event[allocation] + 1, device.event_count());
    }
}

}  // namespace

ShownBy shown_by(const Session& session, const Finding& finding, const Evidence& evidence) {
    const bool has_graph = session.graph() && session.graph()->has_nodes();
    if (evidence.component) {
        return ShownBy::breakdown;
    }
    if (evidence.node != no_node && has_graph) {
        return ShownBy::graph;
    }
    if (is_about_segments(finding.kind)) {
        return ShownBy::segments;
    }
    if (evidence.allocation) {
        return has_graph ? ShownBy::graph : ShownBy::segments;
    }
    return ShownBy::any;
}

TimePoint time_point_of(const Session& session, const Explained& explained, const Evidence& evidence) {
    if (evidence.event) {
        return state_now(session.device(), *evidence.event);
    }
    const auto time = evidence.until ? evidence.until : evidence.time;
    return time ? time_point_at(session.trace(), session.device(), *time) : explained.explanation.event;
}

SelectionState selection_of(const Session& session, const std::shared_ptr<const Explained>& explained,
                            const Finding& finding, const Evidence& evidence) {
    const DeviceHistory& device = session.device();
    SelectionState state;
    state.device = session.selection().state().device;
    state.memory = memory_now(session, explained, finding);
    state.memory_name = name_of_memory(state, finding);
    state.time_point = is_retained_memory(finding, evidence) ? state_now(device, finding.memory.event)
                                                             : time_point_of(session, *explained, evidence);
    if (evidence.time && evidence.until) {
        const TimeView& view = session.time_view();
        state.range = std::pair(view.position_of_time(*evidence.time), view.position_of_time(*evidence.until));
    }
    const AllocationIndex allocation = allocation_now(session, *explained, evidence.allocation);
    state.node = node_now(session, *explained, evidence.node);
    if (allocation != no_allocation) {
        add_allocation(device, allocation, !evidence.event && !evidence.time, state);
    } else if (evidence.stack != 0) {
        state.stack = evidence.stack;
    } else if (!state.node && !state.memory && finding.stack != 0 && is_of_pytorch(finding)) {
        state.stack = finding.stack;
    }
    return state;
}

std::optional<SelectionState> selection_of_memory(const Session& session,
                                                  const std::shared_ptr<const Explained>& explained,
                                                  const Finding& finding) {
    SelectionState state;
    state.device = session.selection().state().device;
    state.memory = memory_now(session, explained, finding);
    state.memory_name = name_of_memory(state, finding);
    state.time_point = state_now(session.device(), finding.memory.event);
    return state.memory ? std::optional(state) : std::nullopt;
}

std::vector<Evidence> steps_of(const Explained& explained, const Finding& finding) {
    if (!finding.evidence.empty()) {
        return finding.evidence;
    }
    Evidence title;
    title.text = finding.title;
    title.stack = finding.stack;
    title.component = finding.component;
    title.event = explained.explanation.event;
    return {title};
}

}  // namespace tidemark::gui
