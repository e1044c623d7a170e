// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A query for allocations of a device: filters, order and groups. Pure functions for a worker thread.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/model/category_lookup.h"
#include "gui/model/lazy_iterations.h"
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
    category,
    // Of groups only:
    count,
    largest
};
constexpr int allocation_column_count = 16;  ///< columns of an allocation
constexpr int table_column_count = 18;       ///< with those of groups

enum class TableGrouping : uint8_t { none, line, stack, module, category, pool, stream, iteration };
constexpr int table_grouping_count = 8;

/// Returns what the columns op, module and phase show of an origin.
std::string origin_text(const Origin& origin, AllocationColumn column);

struct AllocationQuery {
    std::string text;  ///< part of a function, file or "file:line" of any frame; case-insensitive
    uint64_t min_block_size = 0, max_block_size = UINT64_MAX;
    std::optional<uint64_t> address;                                   ///< inside the block
    std::optional<TimePoint> alive_at;                                 ///< active at that point
    std::optional<std::pair<EventNumber, EventNumber>> active_within;  ///< active in any of these states
    int64_t min_lifetime = 0, max_lifetime = INT64_MAX;  ///< ns; what is never freed lives longer than any lifetime
    std::optional<uint32_t> pool;                        ///< index into Trace::pools
    std::optional<Category> category;                    ///< as category_of says
    std::optional<StackId> stack;
    AllocationSet memory;  ///< only these; null: all
    bool never_freed = false;
    AllocationColumn sort_by = AllocationColumn::block_size;
    bool descending = true;
    TableGrouping group_by = TableGrouping::none;
    CategoryLookup category_of;                        ///< for sorting, filtering and grouping by category
    std::shared_ptr<const LazyIterations> iterations;  ///< for grouping by iteration
    bool operator==(const AllocationQuery&) const = default;
};

/// Consecutive rows with something in common.
struct AllocationGroup {
    QString name;
    uint32_t first = 0, last = 0;  ///< its rows are [first, last)
    uint64_t requested = 0, block_bytes = 0, largest = 0;
    int64_t longest = 0;  ///< ns: longest lifetime; INT64_MAX: one is never freed

    uint32_t count() const { return last - first; }
};

struct AllocationRows {
    std::vector<AllocationIndex> rows;
    std::vector<AllocationGroup> groups;      ///< of all rows; empty without groups
    uint64_t requested = 0, block_bytes = 0;  ///< bytes of all rows
};

/// Returns ns from the allocation to the request to free it; INT64_MAX: never freed.
int64_t lifetime_of(const DeviceHistory& device, AllocationIndex a);

/// Orders rows as the query says. Ties stay in their order, which must be that of events.
void sort_allocations(const Analysis& analysis, const AllocationQuery& query, std::vector<AllocationIndex>& rows);

/// Moves the rows of each group together, within which they keep their order, and orders the groups by the query's
/// column: names by name, times and places by bytes. Stops early if canceled.
void group_allocations(const Analysis& analysis, const AllocationQuery& query, AllocationRows& rows,
                       Progress& progress);

/// Returns null if canceled. Ties are in the order of events.
std::shared_ptr<const AllocationRows> find_allocations(const Analysis& analysis, const AllocationQuery& query,
                                                       Progress& progress);

/// Returns for each stack whether one of its frames matches. Every frame is tested once.
std::vector<bool> stacks_matching(const StackTable& stacks, const std::string& text);

}  // namespace tidemark::gui
