// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The order of the rows.
#include <algorithm>
#include <numeric>

#include "gui/model/text.h"
#include "gui/table/allocation_query.h"

namespace tidemark::gui {

namespace {

/// Returns the rank of each stack in the order of a text.
template <class TextOf>
std::vector<uint32_t> stack_ranks(const StackTable& stacks, TextOf&& text_of_stack) {
    std::vector<std::pair<QString, StackId>> named;
    named.reserve(stacks.stack_count());
    for (StackId s = 0; s < stacks.stack_count(); ++s) {
        named.emplace_back(text_of_stack(s), s);
    }
    std::sort(named.begin(), named.end());
    std::vector<uint32_t> ranks(stacks.stack_count());
    for (uint32_t i = 0, rank = 0; i < named.size(); ++i) {
        rank += i > 0 && named[i].first != named[i - 1].first;
        ranks[named[i].second] = rank;
    }
    return ranks;
}

/// Returns the rank of each origin in the order of one of its texts.
std::vector<uint64_t> origin_ranks(const std::vector<Origin>& origins, AllocationColumn column) {
    std::vector<std::string> texts;
    std::transform(origins.begin(), origins.end(), std::back_inserter(texts),
                   [&](const Origin& origin) { return origin_text(origin, column); });
    std::vector<uint32_t> order(origins.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return texts[a] < texts[b]; });
    std::vector<uint64_t> ranks(origins.size());
    for (size_t i = 1; i < order.size(); ++i) {
        ranks[order[i]] = ranks[order[i - 1]] + (texts[order[i]] != texts[order[i - 1]]);
    }
    return ranks;
}

template <class KeyOf>
void sort_rows(std::vector<AllocationIndex>& rows, bool descending, KeyOf&& key_of) {
    std::vector<std::pair<uint64_t, AllocationIndex>> keyed(rows.size());
    std::transform(rows.begin(), rows.end(), keyed.begin(), [&](AllocationIndex a) {
        const uint64_t key = key_of(a);
        return std::pair(descending ? ~key : key, a);
    });
    std::sort(keyed.begin(), keyed.end());
    std::transform(keyed.begin(), keyed.end(), rows.begin(), [](const auto& k) { return k.second; });
}

}  // namespace

void sort_allocations(const Analysis& analysis, const AllocationQuery& query, std::vector<AllocationIndex>& rows) {
    const DeviceHistory& device = analysis.device();
    const Allocations& all = device.allocations;
    const StackTable& stacks = analysis.trace().stacks;
    const auto by = [&](auto&& key_of) { sort_rows(rows, query.descending, key_of); };
    const auto segment_value = [&](AllocationIndex a, uint32_t Segment::*member) {
        return all.segment[a] == no_segment ? uint64_t{UINT32_MAX} : device.segments[all.segment[a]].*member;
    };
    switch (query.sort_by) {
        case AllocationColumn::id:
        case AllocationColumn::allocated_at:
            if (query.descending) {
                std::reverse(rows.begin(), rows.end());
            }
            return;
        case AllocationColumn::address: return by([&](AllocationIndex a) { return all.address[a]; });
        case AllocationColumn::requested: return by([&](AllocationIndex a) { return all.requested[a]; });
        case AllocationColumn::count:  // of groups: their allocations are in the order of their sizes
        case AllocationColumn::largest:
        case AllocationColumn::block_size: return by([&](AllocationIndex a) { return all.block_size[a]; });
        case AllocationColumn::rounding:
            return by(
                [&](AllocationIndex a) { return all.block_size[a] - std::min(all.block_size[a], all.requested[a]); });
        case AllocationColumn::freed_at:
            return by([&](AllocationIndex a) { return static_cast<uint64_t>(all.free_event[a]); });
        case AllocationColumn::lifetime:
            return by([&](AllocationIndex a) { return static_cast<uint64_t>(lifetime_of(device, a)); });
        case AllocationColumn::stream: return by([&](AllocationIndex a) { return segment_value(a, &Segment::stream); });
        case AllocationColumn::pool: return by([&](AllocationIndex a) { return segment_value(a, &Segment::pool); });
        case AllocationColumn::line: {
            const auto ranks = stack_ranks(stacks, [&](StackId s) { return stack_text(stacks, s); });
            return by([&](AllocationIndex a) { return uint64_t{ranks[all.stack[a]]}; });
        }
        case AllocationColumn::file: {
            const auto ranks = stack_ranks(stacks, [&](StackId s) { return site_file(stacks, s); });
            return by([&](AllocationIndex a) { return uint64_t{ranks[all.stack[a]]}; });
        }
        case AllocationColumn::op:
        case AllocationColumn::module:
        case AllocationColumn::phase: {
            const auto ranks = origin_ranks(analysis.trace().origins, query.sort_by);
            return by([&](AllocationIndex a) { return all.origin[a] < ranks.size() ? ranks[all.origin[a]] : 0; });
        }
        case AllocationColumn::category:
            return by([&](AllocationIndex a) { return static_cast<uint64_t>(query.category_of(a)); });
    }
}

}  // namespace tidemark::gui
