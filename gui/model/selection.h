// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The selection of a session, which all panes share: every pane shows it and may change it.
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/read/open_trace.h"
#include "storage/replay/time_point.h"
#include "storage/trace/graph_tables.h"

namespace tidemark::gui {

/// Allocations of one device, ascending. Shared by the states that select them.
using AllocationSet = std::shared_ptr<const std::vector<AllocationIndex>>;
/// Returns whether the set has the allocation.
bool contains(const AllocationSet& set, AllocationIndex allocation);

/// The selection and the cursor. A value type, so that the history is a list of these.
struct SelectionState {
    int device = 0;                                  ///< position in Trace::devices
    TimePoint time_point;                            ///< the cursor: a state of that device, or a repeated place
    AllocationIndex allocation = no_allocation;      ///< the selected allocation
    std::optional<StackId> stack;                    ///< the selected stack; all its allocations are highlighted
    uint32_t segment = no_segment;                   ///< the selected segment
    std::optional<std::pair<double, double>> range;  ///< selected span on the time axis, in axis units
    std::optional<NodeIndex> node;                   ///< the selected node of the autograd graph
    /// Of the selected finding, or the new memory of a group; highlighted instead of the stack. Null: none.
    AllocationSet memory;
    QString memory_name;  ///< what `memory` is, in the user's language: the title of a finding, a range of sizes
    bool operator==(const SelectionState&) const = default;
};

class Selection : public QObject {
    Q_OBJECT
public:
    explicit Selection(QObject* parent = nullptr);

    const SelectionState& state() const { return state_; }
    void set_time_point(TimePoint time_point);  ///< scrubbing: not a history step
    void select_allocation(
        AllocationIndex allocation);  ///< also selects its stack and segment; moves the cursor into its lifetime; the
                                      ///< selected memory stays if the allocation belongs to it
    void select_stack(std::optional<StackId> stack);
    void select_segment(uint32_t segment);
    void select_node(std::optional<NodeIndex> node);
    void select_range(std::optional<std::pair<double, double>> range);
    void preview_range(std::optional<std::pair<double, double>> range);  ///< while dragging: not yet a history step
    /// Selects other allocations in place of the stack, the allocation and the node. The range stays. With
    /// `is_step` false, it belongs to the last step of the history: the memory follows the cursor.
    void select_memory(AllocationSet memory, const QString& name, bool is_step = true);
    /// Changes everything in one step of the history.
    void select(const SelectionState& next);
    void select_device(int position);
    void clear();  ///< Esc: time and device stay
    /// Takes a longer trace of the same run; the selection stays. Emits nothing (see Session::grown).
    void grow(const Trace& trace);
    void set_trace(const Trace* trace);  ///< resets everything; the session then sets the time to the peak

    /// The allocations under the pointer in any pane, which all panes highlight: ascending; empty: none. Not part of
    /// the state and the history.
    const std::vector<AllocationIndex>& hovered() const { return hovered_; }
    void set_hovered(std::vector<AllocationIndex> allocations);
    /// The graph was read again: nodes have other numbers, no_node if they are gone. Emits nothing.
    void renumber_nodes(const std::function<NodeIndex(NodeIndex)>& number);

    bool can_go_back() const;
    bool can_go_forward() const;
    void forget_history();
    void back();
    void forward();

signals:
    void time_point_changed();
    void selected_changed();  ///< allocation, stack, segment, node or range
    void device_changed();
    void history_changed();
    void range_moved();  ///< also while a range is being dragged
    void hovered_changed();

private:
    void apply(const SelectionState& next, bool remember);
    const Trace* trace_ = nullptr;
    SelectionState state_;
    std::optional<SelectionState> before_preview_;
    std::vector<SelectionState> past_, future_;
    std::vector<AllocationIndex> hovered_;
};

}  // namespace tidemark::gui
