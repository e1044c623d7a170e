// What one node keeps alive, module by module.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph_pages.h"
#include "recorder/cli/graph_tree.h"
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

/// Most bytes first.
std::vector<Slot> slots_of(const GraphView& view, const std::vector<NodeIndex>& nodes) {
    std::map<uint32_t, Slot> found;
    const SavedTensors& saved = view.tables().saved;
    for (const NodeIndex node : nodes) {
        for (const uint32_t s : view.saved_by(node)) {
            if (view.holds(s)) {
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

/// ": saved self 1.00 MiB, mat2 512 KiB"; empty where nothing is saved.
std::string slots_text(const GraphView& view, const TreeRow& row) {
    const std::vector<Slot> slots = slots_of(view, row.nodes);
    std::string text;
    for (size_t s = 0; s < std::min(slots.size(), slots_shown); ++s) {
        text += fmt::format("{}{} {}", text.empty() ? ": saved " : ", ", slots[s].name, format_bytes(slots[s].bytes));
    }
    return slots.size() > slots_shown ? fmt::format("{} and {} more", text, slots.size() - slots_shown) : text;
}

std::string row_text(const GraphView& view, const TreeRow& row, int depth, size_t limit) {
    const bool is_type = row.rows.empty();
    std::string text =
        fmt::format("{:>10}  {:>9}  {:{}}{}{}{}\n", format_bytes(row.reachable_bytes),
                    format_count(static_cast<int64_t>(row.nodes.size())), "", depth * 2, one_line(row.name),
                    row.modules == 1 ? "" : fmt::format(" ({} alike)", format_count(row.modules)),
                    is_type ? one_line(slots_text(view, row)) : "");
    const size_t shown = limited(row.rows.size(), limit);
    for (size_t r = 0; r < shown; ++r) {
        text += row_text(view, row.rows[r], depth + 1, limit);
    }
    return text + rest_text(row.rows.size() - shown, 25 + depth * 2);
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

/// Its parents that are alive: what else keeps it, if it is no root.
int64_t alive_parents(const GraphView& view, NodeIndex node) {
    const auto parents = view.index().parents(node);
    return std::count_if(parents.begin(), parents.end(), [&](NodeIndex p) { return view.time_point().is_alive(p); });
}

}  // namespace

std::string root_text(const GraphView& view, NodeIndex root, size_t limit) {
    TreeRow tree = graph_tree(view, view.reachable_from(root));
    tree.name = "everything";
    const std::string step = view.step_text(root);
    std::string text =
        fmt::format("{}{}, at {}\n", one_line(view.name(root)), step.empty() ? "" : ", made in " + step, view.when());
    text += fmt::format("State      {}\n", node_state_sentence(Words(Language::english), view.state(root)));
    text += fmt::format("Keeps      {} and {}, of which {} go when it goes\n",
                        counted(static_cast<int64_t>(tree.nodes.size()), "node"), format_bytes(tree.reachable_bytes),
                        format_bytes(view.time_point().retained_bytes(root)));
    text += fmt::format("Held by    {}\n", one_line(view.referrer_text(root).value_or("nobody that is known")));
    if (const int64_t parents = alive_parents(view, root); parents > 0) {
        text += fmt::format("           and {} of the graph: it is no root\n", counted(parents, "node"));
    }
    return text + fmt::format("\n{:>10}  {:>9}  {}\n", "Kept", "Nodes", "Module, type") +
           row_text(view, tree, 0, limit);
}

ordered_json root_json(const GraphView& view, NodeIndex root, size_t limit) {
    const TreeRow tree = graph_tree(view, view.reachable_from(root));
    return {{"time_point", view.when_json()},
            {"root", view.node_json(root)},
            {"text", node_state_sentence(Words(Language::english), view.state(root))},
            {"parents", alive_parents(view, root)},
            {"nodes", tree.nodes.size()},
            {"reachable_bytes", tree.reachable_bytes},
            {"retained_bytes", view.time_point().retained_bytes(root)},
            {"referrer", view.referrer_json(view.referrers().of(root))},
            {"tree", row_json(view, tree, limit)}};
}

}  // namespace tidemark::cli
