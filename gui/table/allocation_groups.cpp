// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The groups of the rows.
#include <QCoreApplication>
#include <algorithm>
#include <numeric>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/table/allocation_query.h"
#include "storage/attribution/attribution.h"

namespace tidemark::gui {

namespace {

constexpr size_t rows_between_group_reports = 1 << 17;

/// Gives this file a context for translations.
struct TableGroups {
    Q_DECLARE_TR_FUNCTIONS(TableGroups)
};

GroupBy key_of(TableGrouping by) {
    switch (by) {
        case TableGrouping::line: return GroupBy::line;
        case TableGrouping::module: return GroupBy::module;
        case TableGrouping::pool: return GroupBy::pool;
        case TableGrouping::stream: return GroupBy::stream;
        default: return GroupBy::stack;
    }
}

/// Assigns allocations to groups, and names these.
class GroupNumbers {
public:
    GroupNumbers(const Analysis& analysis, const AllocationQuery& query)
        : analysis_(analysis), query_(query), grouper_(analysis.trace(), analysis.device(), key_of(query.group_by)) {}

    /// Returns a small number: the same for all allocations of a group.
    uint32_t of(AllocationIndex a) {
        switch (query_.group_by) {
            case TableGrouping::category: return static_cast<uint32_t>(query_.category_of(a));
            case TableGrouping::iteration: return static_cast<uint32_t>(iteration_of(a) + 1);
            default: return grouper_.group_of(a);
        }
    }

    QString name(AllocationIndex member) {
        const Trace& trace = analysis_.trace();
        const DeviceHistory& device = analysis_.device();
        switch (query_.group_by) {
            case TableGrouping::stack: return stack_text(trace.stacks, device.allocations.stack[member]);
            case TableGrouping::pool: return pool_of_text(trace, device, member);
            case TableGrouping::stream: return stream_of_text(trace, device, member);
            case TableGrouping::category: return category_text(query_.category_of(member));
            case TableGrouping::iteration: return iteration_name(member);
            case TableGrouping::line:
                if (device.allocations.stack[member] == 0) {
                    return no_frames_text();
                }
                [[fallthrough]];
            default: return group_text(key_of(query_.group_by), grouper_.name(grouper_.group_of(member)));
        }
    }

private:
    int64_t iteration_of(AllocationIndex a) const {
        return query_.iterations ? query_.iterations->get().at(analysis_.device().allocations.alloc_event[a]) : -1;
    }
    QString iteration_name(AllocationIndex a) const {
        const int64_t position = iteration_of(a);
        const auto count = query_.iterations ? static_cast<int64_t>(query_.iterations->get().size()) : 0;
        return count == 0     ? TableGroups::tr("nothing repeats in this run")
               : position < 0 ? TableGroups::tr("before the first iteration")
               : position >= count
                   ? TableGroups::tr("after the last iteration")
                   : TableGroups::tr("iteration %1")
                         .arg(count_text(query_.iterations->get()[static_cast<size_t>(position)].number));
    }

    const Analysis& analysis_;
    const AllocationQuery& query_;
    Grouper grouper_;
};

void add(const DeviceHistory& device, AllocationIndex a, AllocationGroup& group) {
    group.requested += device.allocations.requested[a];
    group.block_bytes += device.allocations.block_size[a];
    group.largest = std::max(group.largest, device.allocations.block_size[a]);
    group.longest = std::max(group.longest, lifetime_of(device, a));
}

/// Returns the value by which groups are ordered; names are ordered by their words instead.
uint64_t rank_of(const AllocationGroup& group, AllocationColumn column) {
    switch (column) {
        case AllocationColumn::count: return group.count();
        case AllocationColumn::largest: return group.largest;
        case AllocationColumn::requested: return group.requested;
        case AllocationColumn::lifetime: return static_cast<uint64_t>(group.longest);
        case AllocationColumn::rounding: return group.block_bytes - std::min(group.block_bytes, group.requested);
        default: return group.block_bytes;
    }
}

/// Orders by the allocations of the groups where it is about time: iterations then follow each other.
bool is_by_first_row(AllocationColumn column) {
    return column == AllocationColumn::id || column == AllocationColumn::allocated_at;
}

void sort_groups(const AllocationQuery& query, const std::vector<AllocationIndex>& first,
                 const std::vector<AllocationGroup>& groups, std::vector<uint32_t>& order) {
    const auto is_before = [&](uint32_t a, uint32_t b) {
        if (is_by_first_row(query.sort_by)) {
            return first[a] < first[b];
        }
        return query.sort_by == AllocationColumn::line
                   ? groups[a].name < groups[b].name
                   : rank_of(groups[a], query.sort_by) < rank_of(groups[b], query.sort_by);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return query.descending ? is_before(b, a) : is_before(a, b); });
}

}  // namespace

void group_allocations(const Analysis& analysis, const AllocationQuery& query, AllocationRows& rows,
                       Progress& progress) {
    if (query.group_by == TableGrouping::none) {
        return;
    }
    GroupNumbers numbers(analysis, query);
    std::vector<uint32_t> place_of_number, place(rows.rows.size());
    std::vector<AllocationIndex> first;  // of each group: its row that comes first
    std::vector<AllocationGroup> groups;
    for (size_t row = 0; row < rows.rows.size(); ++row) {
        if (row % rows_between_group_reports == 0) {
            progress.report("group", 0.6 + 0.4 * static_cast<double>(row) / static_cast<double>(rows.rows.size()));
            if (progress.canceled) {
                return;
            }
        }
        const uint32_t number = numbers.of(rows.rows[row]);
        place_of_number.resize(std::max<size_t>(place_of_number.size(), number + size_t{1}), UINT32_MAX);
        uint32_t& group = place_of_number[number];
        if (group == UINT32_MAX) {
            group = static_cast<uint32_t>(groups.size());
            groups.push_back({numbers.name(rows.rows[row])});
            first.push_back(rows.rows[row]);
        }
        place[row] = group;
        add(analysis.device(), rows.rows[row], groups[group]);
        ++groups[group].last;  // counts at first
    }
    std::vector<uint32_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0U);
    sort_groups(query, first, groups, order);
    uint32_t next = 0;
    std::vector<uint32_t> free_row(groups.size());
    for (const uint32_t group : order) {
        free_row[group] = next;
        next += groups[group].last;
    }
    std::vector<AllocationIndex> moved(rows.rows.size());
    for (size_t row = 0; row < rows.rows.size(); ++row) {
        moved[free_row[place[row]]++] = rows.rows[row];
    }
    rows.rows = std::move(moved);
    for (const uint32_t group : order) {
        groups[group].first = free_row[group] - groups[group].last;
        groups[group].last = free_row[group];
        rows.groups.push_back(std::move(groups[group]));
    }
}

}  // namespace tidemark::gui
