// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

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

/// Returns the frames without line numbers: "train.py forward". Native names have no line, but colons.
std::string without_lines(const std::vector<std::string>& frames) {
    std::string text;
    for (const std::string& frame : frames) {
        const size_t space = frame.find(' ');
        const size_t colon = space == frame.npos ? frame.npos : frame.rfind(':', space);
        text += colon == frame.npos ? frame : frame.substr(0, colon) + frame.substr(space);
        text += '\n';
    }
    return text;
}

using Rows = std::vector<CompareRow>;

/// Collects the groups of both states by name.
class GroupCollector {
public:
    void add(const StateOf& state, Amounts CompareRow::*side, GroupBy by, const GroupOptions& options) {
        GroupOptions of_state = options;
        of_state.categories = state.categories;
        for (const AttributionGroup& group :
             attribution_at(state.trace, state.device, state.live, state.point, by, of_state)) {
            std::vector<std::string> frames;
            if (by == GroupBy::stack) {
                frames = frame_texts(state.trace.stacks, group.stack);
            }
            CompareRow& row = row_of(group.name, std::move(frames));
            row.*side += Amounts{group.block_bytes, group.allocations};
        }
    }

    Rows take() { return std::move(rows_); }

private:
    CompareRow& row_of(const std::string& name, std::vector<std::string> frames) {
        const auto [entry, is_new] = numbers_.try_emplace(frames.empty() ? name : joined(frames), rows_.size());
        if (is_new) {
            CompareRow& row = rows_.emplace_back();
            row.name = name;
            row.frames = std::move(frames);
        }
        return rows_[entry->second];
    }

    Rows rows_;
    std::unordered_map<std::string, size_t> numbers_;
};

/// Rows that exist in one state only and differ from each other only in line numbers.
struct OneSidedRows {
    std::vector<size_t> only_a, only_b;
};

/// Pairs rows that an edit of the program moved to other lines. Pairs a row only if exactly one row of the other state
/// can match.
void pair_moved(Rows& rows) {
    std::map<std::string, OneSidedRows> by_text;
    for (size_t i = 0; i < rows.size(); ++i) {
        const bool is_one_sided = rows[i].a.count == 0 || rows[i].b.count == 0;
        if (is_one_sided && !rows[i].frames.empty()) {
            OneSidedRows& candidates = by_text[without_lines(rows[i].frames)];
            (rows[i].a.count == 0 ? candidates.only_b : candidates.only_a).push_back(i);
        }
    }
    std::vector<bool> is_paired(rows.size(), false);
    for (const auto& [text, candidates] : by_text) {
        if (candidates.only_a.size() == 1 && candidates.only_b.size() == 1) {
            CompareRow& row = rows[candidates.only_b.front()];
            row.a = rows[candidates.only_a.front()].a;
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

RowChange CompareRow::change() const {
    return b.count == 0       ? RowChange::only_a
           : a.count == 0     ? RowChange::only_b
           : difference() > 0 ? RowChange::grown
           : difference() < 0 ? RowChange::shrunk
                              : RowChange::same;
}

Comparison compare(const StateOf& a, const StateOf& b, GroupBy by, const GroupOptions& options) {
    GroupCollector collector;
    collector.add(a, &CompareRow::a, by, options);
    collector.add(b, &CompareRow::b, by, options);
    Comparison comparison{collector.take(), {}, {}};
    pair_moved(comparison.rows);
    for (const CompareRow& row : comparison.rows) {
        comparison.a += row.a;
        comparison.b += row.b;
    }
    std::stable_sort(comparison.rows.begin(), comparison.rows.end(), [](const CompareRow& x, const CompareRow& y) {
        return std::abs(x.difference()) > std::abs(y.difference());
    });
    return comparison;
}

}  // namespace tidemark
