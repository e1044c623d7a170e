// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_query.h"

#include <algorithm>

#include "gui/model/text.h"
#include "storage/replay/active_walk.h"

namespace tidemark::gui {

namespace {

constexpr uint32_t rows_between_reports = 1 << 17;

/// The filters that few queries have.
bool matches_rare_filters(const AllocationQuery& query, const DeviceHistory& device, AllocationIndex a) {
    if (query.min_lifetime > 0 || query.max_lifetime < INT64_MAX) {
        const int64_t lifetime = lifetime_of(device, a);
        if (lifetime < query.min_lifetime || lifetime > query.max_lifetime) {
            return false;
        }
    }
    if (query.pool) {
        const uint32_t segment = device.allocations.segment[a];
        if (segment == no_segment || !device.segments[segment].pool_known ||
            device.segments[segment].pool != *query.pool) {
            return false;
        }
    }
    return !query.category || query.category_of(a) == *query.category;
}

bool matches(const AllocationQuery& query, const std::vector<bool>& stack_matches, const DeviceHistory& device,
             AllocationIndex a) {
    const Allocations& all = device.allocations;
    const uint64_t size = all.block_size[a];
    return size >= query.min_block_size && size <= query.max_block_size &&
           (!query.never_freed || all.free_event[a] == never) && (!query.stack || all.stack[a] == *query.stack) &&
           (!query.memory || contains(query.memory, a)) &&
           (!query.address || *query.address - all.address[a] < std::max<uint64_t>(size, 1)) &&
           (stack_matches.empty() || stack_matches[all.stack[a]]) &&
           (!query.active_within || (all.alloc_event[a] < query.active_within->second &&
                                     all.free_completed[a] >= query.active_within->first)) &&
           matches_rare_filters(query, device, a);
}

std::vector<AllocationIndex> select(const Analysis& analysis, const AllocationQuery& query, Progress& progress) {
    const Allocations& all = analysis.device().allocations;
    const std::vector<bool> stack_matches =
        query.text.empty() ? std::vector<bool>{} : stacks_matching(analysis.trace().stacks, query.text);
    std::vector<AllocationIndex> rows;
    if (query.alive_at) {
        for (const auto& [a, state] : active_allocations(analysis.device(), analysis.live(), *query.alive_at)) {
            if (matches(query, stack_matches, analysis.device(), a)) {
                rows.push_back(a);
            }
        }
        std::sort(rows.begin(), rows.end());
        return rows;
    }
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        if (a % rows_between_reports == 0) {
            progress.report("filter", 0.4 * a / all.size());
            if (progress.canceled) {
                return {};
            }
        }
        if (matches(query, stack_matches, analysis.device(), a)) {
            rows.push_back(a);
        }
    }
    return rows;
}

}  // namespace

int64_t lifetime_of(const DeviceHistory& device, AllocationIndex a) {
    const auto freed = device.free_time(a);
    return freed ? std::max<int64_t>(0, *freed - device.alloc_time(a)) : INT64_MAX;
}

std::string origin_text(const Origin& origin, AllocationColumn column) {
    return column == AllocationColumn::op       ? origin.op
           : column == AllocationColumn::module ? origin.module
                                                : word_of(origin.phase);
}

std::vector<bool> stacks_matching(const StackTable& stacks, const std::string& text) {
    const QString wanted = to_qstring(text);
    std::vector<bool> frame_matches(stacks.frame_count());
    for (FrameId f = 1; f < stacks.frame_count(); ++f) {
        const Frame& frame = stacks.frame(f);
        const QString words = QStringLiteral("%1:%2 %3")
                                  .arg(to_qstring(stacks.string(frame.file)))
                                  .arg(frame.line)
                                  .arg(to_qstring(stacks.string(frame.function)));
        frame_matches[f] = words.contains(wanted, Qt::CaseInsensitive);
    }
    // A caller's id is smaller than its callee's, so its result exists already.
    std::vector<bool> result(stacks.stack_count());
    for (StackId s = 1; s < stacks.stack_count(); ++s) {
        result[s] = frame_matches[stacks.stack(s).frame] || result[stacks.stack(s).caller];
    }
    return result;
}

std::shared_ptr<const AllocationRows> find_allocations(const Analysis& analysis, const AllocationQuery& query,
                                                       Progress& progress) {
    auto result = std::make_shared<AllocationRows>();
    result->rows = select(analysis, query, progress);
    if (progress.canceled) {
        return nullptr;
    }
    const Allocations& all = analysis.device().allocations;
    for (const AllocationIndex a : result->rows) {
        result->requested += all.requested[a];
        result->block_bytes += all.block_size[a];
    }
    progress.report("sort", 0.5);
    sort_allocations(analysis, query, result->rows);
    group_allocations(analysis, query, *result, progress);
    return progress.canceled ? nullptr : result;
}

}  // namespace tidemark::gui
