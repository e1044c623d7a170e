// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"
#include "storage/trace/base_name.h"

namespace tidemark {
namespace {

/// Returns the Python frames, or the operators if there are none. C++ frames differ between builds of PyTorch.
std::vector<std::string> frame_texts(const StackTable& stacks, StackId stack) {
    const bool python = is_python(stacks.role(stacks.site(stack)));
    std::vector<std::string> texts;
    for (const FrameId frame : stacks.frames_of(stack)) {
        const FrameRole role = stacks.role(frame);
        if (python ? is_python(role) : role != FrameRole::plumbing) {
            texts.push_back(describe_frame(stacks, frame));
        }
    }
    return texts;
}

std::string joined(const std::vector<std::string>& frames) {
    std::string text;
    for (const std::string& frame : frames) {
        text += frame + '\n';
    }
    return text;
}

std::string without_line_numbers(const std::vector<std::string>& frames) {
    std::string text;
    for (const std::string& frame : frames) {
        text += without_line_number(frame) + '\n';
    }
    return text;
}

using Rows = std::vector<CompareRow>;

/// Collects the groups of both states by name. Those of A come first.
class GroupCollector {
public:
    explicit GroupCollector(std::span<const RenamedFile> renamed) : renamed_(renamed) {}

    void add(const StateOf& state, Amounts CompareRow::*side, GroupBy by, const GroupOptions& options) {
        GroupOptions of_state = options;
        of_state.categories = state.categories;
        for (const AttributionGroup& group :
             attribution_at(state.trace, state.device, state.live, state.point, by, of_state)) {
            std::vector<std::string> frames;
            if (by == GroupBy::stack) {
                frames = frame_texts(state.trace.stacks, group.stack);
            }
            CompareRow& row = row_of(group.name, frames, by, side == &CompareRow::a);
            row.*side += Amounts{group.block_bytes, group.allocations};
            row.name = group.name;
            row.name_in_a = side == &CompareRow::a ? group.name : row.name_in_a;
            row.frames = std::move(frames);
            (side == &CompareRow::a ? row.stacks_in_a : row.stacks_in_b).push_back(group.stack);
        }
    }

    Rows take() { return std::move(rows_); }

private:
    CompareRow& row_of(const std::string& name, const std::vector<std::string>& frames, GroupBy by, bool is_of_a) {
        const std::string key = is_of_a ? key_in_b(name, frames, by) : frames.empty() ? name : joined(frames);
        const auto [entry, is_new] = numbers_.try_emplace(key, rows_.size());
        return is_new ? rows_.emplace_back() : rows_[entry->second];
    }

    std::string key_in_b(const std::string& name, const std::vector<std::string>& frames, GroupBy by) const {
        if (frames.empty()) {
            const std::string_view file = by == GroupBy::file ? base_name(name) : std::string_view(name);
            return by == GroupBy::line || by == GroupBy::file
                       ? name.substr(0, name.size() - file.size()) + named_as_in_b(file, renamed_)
                       : name;
        }
        std::vector<std::string> as_in_b;
        for (const std::string& frame : frames) {
            as_in_b.push_back(named_as_in_b(frame, renamed_));
        }
        return joined(as_in_b);
    }

    const std::span<const RenamedFile> renamed_;
    Rows rows_;
    std::unordered_map<std::string, size_t> numbers_;
};

/// Rows that exist in one state only and differ from each other only in line numbers.
struct OneSidedRows {
    std::vector<size_t> only_a, only_b;
};

/// Returns the frames of a stack, or the line, without line numbers.
std::string text_to_pair(const CompareRow& row, std::span<const RenamedFile> renamed) {
    std::vector<std::string> texts = row.frames.empty() ? std::vector{row.name} : row.frames;
    if (row.b.count == 0) {
        for (std::string& text : texts) {
            text = named_as_in_b(text, renamed);
        }
    }
    return without_line_numbers(texts);
}

/// Pairs rows that an edit of the program moved to other lines. Pairs a row only if exactly one row of the other state
/// can match.
void pair_moved(Rows& rows, GroupBy by, std::span<const RenamedFile> renamed) {
    std::map<std::string, OneSidedRows> by_text;
    for (size_t i = 0; i < rows.size(); ++i) {
        const bool is_one_sided = rows[i].a.count == 0 || rows[i].b.count == 0;
        if (is_one_sided && (by == GroupBy::line || !rows[i].frames.empty())) {
            OneSidedRows& candidates = by_text[text_to_pair(rows[i], renamed)];
            (rows[i].a.count == 0 ? candidates.only_b : candidates.only_a).push_back(i);
        }
    }
    std::vector<bool> is_paired(rows.size(), false);
    for (const auto& [text, candidates] : by_text) {
        if (candidates.only_a.size() == 1 && candidates.only_b.size() == 1) {
            CompareRow& row = rows[candidates.only_b.front()];
            row.a = rows[candidates.only_a.front()].a;
            row.name_in_a = rows[candidates.only_a.front()].name_in_a;
            row.stacks_in_a = rows[candidates.only_a.front()].stacks_in_a;
            row.moved = true;
            is_paired[candidates.only_a.front()] = true;
        }
    }
    size_t i = 0;
    std::erase_if(rows, [&](const CompareRow&) { return is_paired[i++]; });
}

}  // namespace

std::string_view change_word(RowChange change) {
    switch (change) {
        case RowChange::only_a: return "only in A";
        case RowChange::only_b: return "only in B";
        case RowChange::grown: return "grown";
        case RowChange::shrunk: return "shrunk";
        case RowChange::same: return "same";
    }
    return {};
}

RowChange change_between(const Amounts& a, const Amounts& b) {
    return b.count == 0        ? RowChange::only_a
           : a.count == 0      ? RowChange::only_b
           : b.bytes > a.bytes ? RowChange::grown
           : b.bytes < a.bytes ? RowChange::shrunk
                               : RowChange::same;
}

Comparison compare(const StateOf& a, const StateOf& b, GroupBy by, const GroupOptions& options) {
    Comparison comparison;
    if (&a.trace != &b.trace) {
        comparison.renamed = renamed_files(a.trace.stacks, b.trace.stacks);
    }
    GroupCollector collector(comparison.renamed);
    collector.add(a, &CompareRow::a, by, options);
    collector.add(b, &CompareRow::b, by, options);
    comparison.rows = collector.take();
    if (&a.trace != &b.trace) {  // no program is edited while it runs
        pair_moved(comparison.rows, by, comparison.renamed);
    }
    for (const CompareRow& row : comparison.rows) {
        comparison.a += row.a;
        comparison.b += row.b;
    }
    std::stable_sort(comparison.rows.begin(), comparison.rows.end(), [](const CompareRow& x, const CompareRow& y) {
        return std::abs(x.difference()) > std::abs(y.difference());
    });
    return comparison;
}

std::vector<AllocationIndex> allocations_of_row(const StateOf& state, GroupBy by, const GroupOptions& options,
                                                const std::string& name, const std::vector<StackId>& stacks) {
    GroupOptions of_state = options;
    of_state.categories = state.categories;
    of_state.time = time_of(state.device, state.point);
    Grouper grouper(state.trace, state.device, by, of_state);
    const auto is_of_row = [&](AllocationIndex a) {
        return by == GroupBy::stack
                   ? std::find(stacks.begin(), stacks.end(), state.device.allocations.stack[a]) != stacks.end()
                   : grouper.name(grouper.group_of(a)) == name;
    };
    std::vector<AllocationIndex> allocations;
    for (const ActiveAllocation& each : active_allocations(state.device, state.live, state.point)) {
        if (is_of_row(each.allocation)) {
            allocations.push_back(each.allocation);
        }
    }
    std::sort(allocations.begin(), allocations.end());
    return allocations;
}

}  // namespace tidemark
