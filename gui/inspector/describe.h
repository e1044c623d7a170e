// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Describes an allocation, a segment, a stack, a node or a point in time as a Report.
#pragma once

#include <QSet>

#include "gui/inspector/source_lines.h"
#include "gui/model/session.h"
#include "gui/widgets/report.h"
#include "storage/replay/memory_state.h"

namespace tidemark::gui {

/// The parts of a report that are shown in full. The links "unfold:stack", "unfold:free" and "unfold:owners" turn them
/// on; gui/model/links.h lists the other links.
struct DescribeOptions {
    bool unfold_stack = false;  ///< show library frames one by one
    bool unfold_free = false;   ///< show the whole stack of the free
    bool all_owners = false;    ///< list all allocations at the address
};

/// The allocations of a stack over the whole trace, and those alive at one time.
struct StackTotals {
    StackId stack = 0;
    int64_t allocations = 0, alive = 0;
    uint64_t alive_bytes = 0, largest_alive_bytes = 0;
    AllocationIndex largest_alive = no_allocation;
};
StackTotals stack_totals(const Analysis& analysis, StackId stack, const TimePoint& time_point);

class Describer {
public:
    /// A frame of a stack, as the details show it.
    struct FrameRow {
        enum class Kind : uint8_t { site, user, library, native };
        FrameId frame = 0;
        Kind kind = Kind::user;
    };

    Describer(const Session& session, const MemoryState* state, SourceLines& sources, const DescribeOptions& options);

    Report allocation(AllocationIndex a, const std::vector<AllocationIndex>& owners);
    Report segment(uint32_t index);
    Report stack(StackId stack);
    Report node(NodeIndex node);
    Report time_point();
    /// Returns the frames as plain text, "FILE:LINE FUNCTION" each.
    static QString plain_stack(const StackTable& stacks, StackId stack);

private:
    void add_graph(AllocationIndex a);
    void add_size(AllocationIndex a);
    void add_lifetime(AllocationIndex a);
    void add_place(AllocationIndex a);
    /// Folds all C++ frames into one row, and adjacent frames of libraries into one row each, unless `unfold`. Without
    /// Python frames, adjacent C++ frames are one row each.
    void add_stack(StackId stack, bool unfold, const QString& unfold_link);
    void add_frame(const FrameRow& row);
    void add_missing_stack(AllocationIndex a);
    void add_free_stack(AllocationIndex a);
    void add_neighbors(AllocationIndex a);
    void add_owners(AllocationIndex a, const std::vector<AllocationIndex>& owners);
    void add_same_stack(StackId stack);
    void add_event(EventNumber event, const QString& name);
    void add_figures();
    QString state_at_cursor(AllocationIndex a) const;
    void add_place_note();
    QString time_point_of(EventNumber event) const;
    QString owner_text(AllocationIndex a) const;

    const Session& session_;
    const Trace& trace_;
    const DeviceHistory& device_;
    const Allocations& all_;
    const MemoryState* state_;
    TimePoint time_point_;
    SourceLines& sources_;
    DescribeOptions options_;
    Report report_;
};

}  // namespace tidemark::gui
