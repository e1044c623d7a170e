// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The nodes and the memory that are reachable from one node, by module.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_pages.h"
#include "recorder/cli/graph/graph_tree.h"
#include "recorder/cli/output.h"
#include "storage/text/fact_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t slots_shown = 4;

/// Saved tensors of one name.
struct Slot {
    std::string name;
    int64_t tensors = 0, bytes = 0;  ///< bytes of the tensors, which may share memory
};

/// Returns the saved tensors that are still retained, by name, most bytes first.
std::vector<Slot> slots_of(const GraphView& view, const std::vector<NodeIndex>& nodes) {
    std::map<uint32_t, Slot> found;
    const SavedTensors& saved = view.tables().saved;
    for (const NodeIndex node : nodes) {
        for (const uint32_t s : view.saved_by(node)) {
            if (view.retains(s)) {
                Slot& slot = found[saved.name[s]];
                ++slot.tensors;
                slot.bytes += static_cast<int64_t>(saved.bytes[s]);
            }
        }
    }
    std::vector<Slot> slots;
    for (auto& [name, slot] : found) {
        slot.name = view.tables().texts[name];
        slots.push_back(std::move(slot));
    }
    std::stable_sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.bytes > b.bytes; });
    return slots;
}

/// ": saved self 1.00 MiB, mat2 512 KiB"; empty if nothing is saved.
std::string slots_text(const GraphView& view, const TreeRow& row) {
    const Words& words = view.words();
    const std::vector<Slot> slots = slots_of(view, row.nodes);
    std::string text;
    for (size_t s = 0; s < std::min(slots.size(), slots_shown); ++s) {
        text += fmt::format("{}{} {}", text.empty() ? "" : words(", "), slots[s].name, format_bytes(slots[s].bytes));
    }
    if (slots.size() > slots_shown) {
        text = words("{saved} and {count} more", with("saved", text), with("count", slots.size() - slots_shown));
    }
    return text.empty() ? text : words(": saved {saved}", with("saved", text));
}

std::string row_text(const GraphView& view, const TreeRow& row, int depth, size_t limit) {
    const Words& words = view.words();
    const bool is_type = row.rows.empty();
    std::string text =
        fmt::format("{:>10}  {:>9}  {:{}}{}{}{}\n", format_bytes(row.reachable_bytes),
                    format_count(static_cast<int64_t>(row.nodes.size())), "", depth * 2, visible_text(row.name),
                    row.modules == 1 ? "" : words(" ({count} equal modules)", with("count", format_count(row.modules))),
                    is_type ? visible_text(slots_text(view, row)) : "");
    const size_t shown = limited(row.rows.size(), limit);
    for (size_t r = 0; r < shown; ++r) {
        text += row_text(view, row.rows[r], depth + 1, limit);
    }
    return text + rest_text(view.words(), row.rows.size() - shown, 25 + depth * 2);
}

ordered_json row_json(const GraphView& view, const TreeRow& row, size_t limit) {
    ordered_json json = {{"name", row.name},
                         {"kind", row.rows.empty() ? "type" : "module"},
                         {"modules", row.modules},
                         {"nodes", row.nodes.size()},
                         {"reachable_bytes", row.reachable_bytes}};
    if (row.rows.empty()) {
        auto slots = ordered_json::array(), ids = ordered_json::array();
        for (const Slot& slot : slots_of(view, row.nodes)) {
            slots.push_back({{"name", slot.name}, {"tensors", slot.tensors}, {"bytes", slot.bytes}});
        }
        for (const NodeIndex node : row.nodes) {
            ids.push_back(view.nodes().id[node]);
        }
        json["saved"] = std::move(slots);
        json["ids"] = std::move(ids);
        return json;
    }
    const size_t shown = limited(row.rows.size(), limit);
    auto rows = ordered_json::array();
    for (size_t r = 0; r < shown; ++r) {
        rows.push_back(row_json(view, row.rows[r], limit));
    }
    json["rows"] = std::move(rows);
    json["rows_left_out"] = row.rows.size() - shown;
    return json;
}

/// Returns the number of live parents, which also retain the node; 0 for a root.
int64_t alive_parents(const GraphView& view, NodeIndex node) {
    const auto parents = view.index().parents(node);
    return std::count_if(parents.begin(), parents.end(), [&](NodeIndex p) { return view.graph_state().is_alive(p); });
}

}  // namespace

std::string root_text(const GraphView& view, NodeIndex root, size_t limit) {
    const Words& words = view.words();
    TreeRow tree = graph_tree(view, view.reachable_from(root));
    tree.name = words("everything");
    const std::string step = view.step_text(root);
    const auto node = with("node", visible_text(view.name(root))), when = with("when", view.when());
    std::string text = (step.empty() ? words("{node}, at {when}", node, when)
                                     : words("{node}, created in {step}, at {when}", node, with("step", step), when)) +
                       '\n';
    const auto row = [&](std::string_view title, const std::string& value) {
        text += fmt::format("{:<13}{}\n", title, visible_text(value));
    };
    row(words("State"), node_state_name(words, view.index(), root, view.time()));
    row(words("Reachable"), words.plural(static_cast<int64_t>(tree.nodes.size()), "{bytes} in {n} node",
                                         "{bytes} in {n} nodes", with("bytes", format_bytes(tree.reachable_bytes))));
    row(words("Retained"), format_bytes(view.graph_state().retained_bytes(root)));
    row(words("Retained by"), view.referrer_text(root).value_or(words("unknown")));
    if (const int64_t parents = alive_parents(view, root); parents > 0) {
        row("", words.plural(parents, "and {n} node of the graph: it is not a root",
                             "and {n} nodes of the graph: it is not a root"));
    }
    return text + fmt::format("\n{:>10}  {:>9}  {}\n", words("Reachable"), words("Nodes"), words("Module, type")) +
           row_text(view, tree, 0, limit);
}

ordered_json root_json(const GraphView& view, NodeIndex root, size_t limit) {
    const TreeRow tree = graph_tree(view, view.reachable_from(root));
    return {{"time_point", view.when_json()},
            {"root", view.node_json(root)},
            {"text", node_state_name(view.words(), view.index(), root, view.time())},
            {"parents", alive_parents(view, root)},
            {"nodes", tree.nodes.size()},
            {"reachable_bytes", tree.reachable_bytes},
            {"retained_bytes", view.graph_state().retained_bytes(root)},
            {"referrer", view.referrer_json(view.referrers().of(root))},
            {"tree", row_json(view, tree, limit)}};
}

}  // namespace tidemark::cli
