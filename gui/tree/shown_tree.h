// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The tree of calls that the pane shows, made off the GUI thread.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "gui/model/selection.h"
#include "storage/analysis/analysis.h"
#include "storage/attribution/call_tree.h"

namespace tidemark::gui {

/// The memory that a tree explains.
enum class TreeMemory : uint8_t {
    at_cursor,
    of_finding,      ///< of the selected finding, as far as it is active at the cursor
    grown_in_range,  ///< active at the end of the selected range, but not at its beginning
};

/// What to show. Owns or shares all that the worker reads.
struct TreeRequest {
    std::shared_ptr<const Analysis> analysis;
    TreeMemory memory = TreeMemory::at_cursor;
    TimePoint cursor;
    AllocationSet finding;                                 ///< with of_finding: not null
    std::optional<std::pair<TimePoint, TimePoint>> range;  ///< with grown_in_range: not nothing
    CallTreeOptions options;
};

/// A tree and what it shows. Immutable. Thread: any.
struct ShownTree {
    TreeRequest request;
    CallTree tree;

    const StackTable& stacks() const { return request.analysis->trace().stacks; }
};

ShownTree make_tree(TreeRequest request);

/// Returns the node of `to` that is on the same path as node `n` of `from`, or the last one on this path that exists.
/// Requires trees of the same run.
uint32_t same_place(const CallTree& from, uint32_t n, const CallTree& to);

}  // namespace tidemark::gui
