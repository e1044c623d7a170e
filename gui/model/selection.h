// The one selection of a session. Every pane shows it; any pane may change it; none keeps its own.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/read/open_trace.h"
#include "storage/trace/graph_tables.h"

namespace tidemark::gui {

/// What is shown and chosen. Value type, so that back and forward are a list of these.
struct SelectionState {
    int device = 0;                                  ///< position in Trace::devices
    EventNumber time_point = 0;                      ///< the cursor: a state of that device
    AllocationIndex allocation = no_allocation;      ///< the chosen allocation
    std::optional<StackId> stack;                    ///< the chosen stack (all its allocations light up)
    uint32_t segment = no_segment;                   ///< the chosen segment
    std::optional<std::pair<double, double>> range;  ///< chosen span on the time axis, in axis units
    std::optional<NodeIndex> node;                   ///< the chosen node of the autograd graph
    bool operator==(const SelectionState&) const = default;
};

class Selection : public QObject {
    Q_OBJECT
public:
    explicit Selection(QObject* parent = nullptr);

    const SelectionState& state() const { return state_; }
    void set_time_point(EventNumber time_point);  ///< scrubbing: not a history step
    void select_allocation(
        AllocationIndex allocation);  ///< also chooses its stack and segment; moves the cursor into its life if outside
    void select_stack(std::optional<StackId> stack);
    void select_segment(uint32_t segment);
    void select_node(std::optional<NodeIndex> node);
    void select_range(std::optional<std::pair<double, double>> range);
    void preview_range(
        std::optional<std::pair<double, double>> range);  ///< while dragging: shown, not a history step yet
    /// All of it at once, in one step of the history.
    void select(const SelectionState& next);
    void select_device(int position);
    void clear();  ///< Esc: keeps moment and device
    /// The same run, longer: what is chosen stays chosen. Emits nothing (see Session::grown).
    void grow(const Trace& trace);
    void set_trace(const Trace* trace);  ///< resets everything; moment = peak of the device is set by the session

    /// What the pointer rests on elsewhere lights up here: allocations of the device, rising; empty: none. No part of
    /// the state and of no history.
    const std::vector<AllocationIndex>& hovered() const { return hovered_; }
    void set_hovered(std::vector<AllocationIndex> allocations);
    /// The graph was read anew: nodes have other numbers, no_node for those that are gone. Emits nothing.
    void renumber_nodes(const std::function<NodeIndex(NodeIndex)>& number);

    bool can_go_back() const;
    bool can_go_forward() const;
    void forget_history();
    void back();
    void forward();

signals:
    void time_point_changed(tidemark::EventNumber time_point);
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
