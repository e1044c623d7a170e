// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A query for allocations of a device: filters and order. Pure functions for a worker thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/category_lookup.h"
#include "gui/model/selection.h"
#include "storage/analysis/analysis.h"
#include "storage/base/progress.h"

namespace tidemark::gui {

enum class AllocationColumn : int {
    id,
    address,
    requested,
    block_size,
    rounding,
    allocated_at,
    freed_at,
    lifetime,
    stream,
    pool,
    line,
    file,
    op,
    module,
    phase,
    category
};
constexpr int allocation_column_count = 16;

/// Returns what the columns op, module and phase show of an origin.
std::string origin_text(const Origin& origin, AllocationColumn column);

struct AllocationQuery {
    std::string text;  ///< part of a function, file or "file:line" of any frame; case-insensitive
    uint64_t min_block_size = 0, max_block_size = UINT64_MAX;
    std::optional<uint64_t> address;    ///< inside the block
    std::optional<TimePoint> alive_at;  ///< active at that point
    std::optional<StackId> stack;
    AllocationSet memory;  ///< only these; null: all
    bool never_freed = false;
    AllocationColumn sort_by = AllocationColumn::block_size;
    bool descending = true;
    CategoryLookup category_of;  ///< for sorting by category
    bool operator==(const AllocationQuery&) const = default;
};

struct AllocationRows {
    std::vector<AllocationIndex> rows;
    uint64_t requested = 0, block_bytes = 0;  ///< bytes of all rows
};

/// Returns null if canceled. Ties are in the order of events.
std::shared_ptr<const AllocationRows> find_allocations(const Analysis& analysis, const AllocationQuery& query,
                                                       Progress& progress);

/// Returns for each stack whether one of its frames matches. Every frame is tested once.
std::vector<bool> stacks_matching(const StackTable& stacks, const std::string& text);

}  // namespace tidemark::gui
