// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One allocation: its categories over time, the nodes that retain it, their referrers, and what frees it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t most_owners_named = 3;

/// The saved tensors, nodes and graphs that retain the memory.
struct Retainers {
    Retainers(const GraphView& view, AllocationRef memory);

    std::vector<uint32_t> saved;   ///< positions in SavedTensors
    std::vector<NodeIndex> nodes;  ///< that saved them
    std::vector<NodeIndex> roots;  ///< of the graphs that contain those nodes
    std::string owners;            ///< referrers of the roots, in words
};

std::vector<NodeIndex> roots_above(const GraphView& view, std::vector<NodeIndex> open) {
    std::vector<bool> seen(view.nodes().size(), false);
    std::vector<NodeIndex> roots;
    for (const NodeIndex node : open) {
        seen[node] = true;
    }
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        bool is_root = true;
        for (const NodeIndex parent : view.index().parents(node)) {
            if (!view.graph_state().is_alive(parent)) {
                continue;
            }
            is_root = false;
            if (!seen[parent]) {
                seen[parent] = true;
                open.push_back(parent);
            }
        }
        if (is_root) {
            roots.push_back(node);
        }
    }
    std::sort(roots.begin(), roots.end());
    return roots;
}

/// Returns "list `outputs` (variable of main, s01.py:31), element 3", or a description of the node's result if no
/// referrer is known.
std::string owner_text(const GraphView& view, NodeIndex root) {
    const Words& words = view.words();
    return view.referrer_text(root).value_or(words("the owner of the result of {node}", with("node", view.name(root))));
}

/// Returns the referrers of these roots. Roots in one list count as one.
std::string owners_text(const GraphView& view, const std::vector<NodeIndex>& roots) {
    const Words& words = view.words();
    const ReferrerGroups groups(view);
    std::map<const ReferrerGroup*, std::vector<NodeIndex>> together;
    std::vector<std::string> owners;
    for (const NodeIndex root : roots) {
        const ReferrerGroup* group = groups.of(view.referrers().of(root));
        if (group == nullptr) {
            owners.push_back(owner_text(view, root));
        } else {
            together[group].push_back(root);
        }
    }
    for (const auto& [group, members] : together) {
        const auto count = static_cast<int64_t>(members.size());
        const std::string referrer = path_words(view.tables(), view.words(), *group);
        owners.push_back(count == 1 ? owner_text(view, members.front())
                         : count < group->count
                             ? words("{count} of {referrer}", with("count", count), with("referrer", referrer))
                             : referrer);
    }
    const size_t shown = std::min(owners.size(), most_owners_named);
    const std::string text = fmt::format("{}", fmt::join(owners.begin(), owners.begin() + shown, words("; ")));
    return shown < owners.size()
               ? words("{owners}; and {count} more", with("owners", text), with("count", owners.size() - shown))
               : text;
}

Retainers::Retainers(const GraphView& view, AllocationRef memory) {
    if (!view.is_allocated(memory)) {
        return;
    }
    saved = view.graph_state().retainers(memory);
    for (const uint32_t s : saved) {
        nodes.push_back(view.index().saver(s));
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    roots = roots_above(view, nodes);
    owners = owners_text(view, roots);
}

bool is_retained(const GraphView& view, NodeIndex node) { return view.state(node) == NodeState::executed; }

/// "when backward runs through both nodes that saved it and releases it"
std::string backward_text(const GraphView& view, const std::vector<NodeIndex>& nodes) {
    const Words& words = view.words();
    const bool all_retained =
        std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) { return is_retained(view, node); });
    const std::string through =
        nodes.size() == 1
            ? view.name(nodes.front())
            : words.plural(static_cast<int64_t>(nodes.size()), "the node that saved it", "all {n} nodes that saved it");
    return all_retained
               ? words("when backward runs through {nodes} once more, without retain_graph", with("nodes", through))
               : words("when backward runs through {nodes} and releases it", with("nodes", through));
}

/// Returns the condition that frees memory which the program owns independently of the graph; empty for other memory.
std::string owner_outside(const Words& words, Category category) {
    switch (category) {
        case Category::parameter:
        case Category::buffer: return words("its model is deleted");
        case Category::gradient: return words("gradients are set to None (zero_grad)");
        case Category::optimizer_state: return words("its optimizer is deleted");
        case Category::unsharded: return words("FSDP reshards its module");
        default: return {};
    }
}

/// "It is freed when its tensor is released by ..., and ..."
std::string release_text(const GraphView& view, AllocationRef memory, const Retainers& retainers) {
    const Words& words = view.words();
    if (!view.is_allocated(memory)) {
        return words("It is not allocated at this point in time.");
    }
    std::vector<std::string> conditions;
    if (const auto outside = owner_outside(words, view.categories().at(memory, view.time())); !outside.empty()) {
        conditions.push_back(outside);
    } else if (const Referrer* referrer = view.referrers().of(memory)) {
        conditions.push_back(words("its tensor is released by {referrer}",
                                   with("referrer", path_words(view.tables(), view.words(), *referrer))));
    }
    if (!retainers.nodes.empty()) {
        conditions.push_back(words.plural(static_cast<int64_t>(retainers.roots.size()),
                                          "the graph that retains it is released by {owners}, or {backward}",
                                          "all {n} graphs that retain it are released by {owners}, or {backward}",
                                          with("owners", retainers.owners),
                                          with("backward", backward_text(view, retainers.nodes))));
    }
    return conditions.empty() ? words("No node of the graph retains it, and no other referrer is known.")
                              : words("It is freed when {conditions}.",
                                      with("conditions", fmt::format("{}", fmt::join(conditions, words(", and ")))));
}

/// "created at 1.2 s by train.py:42 step, freed at 1.3 s"
std::string lifetime_text(const GraphView& view, AllocationRef memory) {
    const Words& words = view.words();
    const DeviceHistory& device = view.device_of(memory);
    const Allocations& all = device.allocations;
    const StackId stack = all.stack[memory.index];
    const bool is_older = all.alloc_event[memory.index] == before_history;
    const auto time = with("time", is_older ? "" : format_time_point(device.alloc_time(memory.index)));
    const auto line = with("line", stack == 0 ? "" : view.line_text(stack));
    const std::string beginning = is_older     ? stack == 0 ? words("created before the recording")
                                                            : words("created before the recording by {line}", line)
                                      : stack == 0 ? words("created at {time}", time)
                                               : words("created at {time} by {line}", time, line);
    const auto freed = device.free_time(memory.index);
    return freed ? words("{beginning}, freed at {time}", with("beginning", beginning),
                         with("time", format_time_point(*freed)))
                 : words("{beginning}, never freed", with("beginning", beginning));
}

std::string history_text(const GraphView& view, AllocationRef memory) {
    const Words& words = view.words();
    std::string text;
    for (const CategoryChange& change : view.categories().history(memory)) {
        const std::string category = view.category_text(memory, change.category);
        text = text.empty() ? category
                            : words("{earlier}; since {time}: {category}", with("earlier", text),
                                    with("time", format_time_point(change.time)), with("category", category));
    }
    return text;
}

std::string retainer_text(const GraphView& view, uint32_t saved) {
    const Words& words = view.words();
    const std::string text = words("{node} as {name}", with("node", view.name(view.index().saver(saved))),
                                   with("name", view.tables().texts[view.tables().saved.name[saved]]));
    return view.tables().saved.is_view[saved] ? text + words(", ") + words("a view") : text;
}

/// Returns the referrers of the memory's tensor and of the graphs that retain it.
std::string referrers_text(const GraphView& view, AllocationRef memory, const Retainers& retainers) {
    const Referrer* referrer = view.referrers().of(memory);
    std::string text = referrer == nullptr ? "" : path_words(view.tables(), view.words(), *referrer);
    text += text.empty() || retainers.owners.empty() ? "" : view.words()("; ");
    text += retainers.owners;
    return text.empty() ? view.words()("unknown") : text;
}

ordered_json history_json(const GraphView& view, AllocationRef memory) {
    auto list = ordered_json::array();
    for (const CategoryChange& change : view.categories().history(memory)) {
        list.push_back({{"time_ns", change.time}, {"category", category_name(change.category)}});
    }
    return list;
}

}  // namespace

std::string memory_text(const GraphView& view, AllocationRef memory, size_t limit) {
    const Words& words = view.words();
    const Retainers retainers(view, memory);
    std::string text =
        words("{memory} at {address} of device {device}, at {when}", with("memory", visible_text(view.name(memory))),
              with("address", format_address(view.device_of(memory).allocations.address[memory.index])),
              with("device", view.device_of(memory).device), with("when", view.when())) +
        '\n';
    const auto row = [&](std::string_view title, std::string_view value) {
        text += fmt::format("{:<13}{}\n", title, visible_text(value));
    };
    const NodeIndex maker = view.index().maker(memory);
    row(words("Lifetime"), lifetime_text(view, memory));
    row(words("Category"), history_text(view, memory));
    row(words("Created by"), maker == no_node ? words("no forward op with a node") : view.name(maker));
    const size_t shown = limited(retainers.saved.size(), limit);
    row(words("Saved by"),
        retainers.saved.empty() ? words("no node of the graph") : retainer_text(view, retainers.saved.front()));
    for (size_t s = 1; s < shown; ++s) {
        row("", retainer_text(view, retainers.saved[s]));
    }
    text += retainers.saved.empty() ? "" : rest_text(words, retainers.saved.size() - shown, 13);
    if (!retainers.saved.empty()) {
        const uint32_t first = retainers.saved.front();
        row(words("Path"),
            words("{path} → {name} → this memory", with("path", path_text(view, view.index().saver(first))),
                  with("name", view.tables().texts[view.tables().saved.name[first]])));
    }
    row(words("Retained by"), referrers_text(view, memory, retainers));
    row("", release_text(view, memory, retainers));
    return text;
}

ordered_json memory_json(const GraphView& view, AllocationRef memory) {
    const Retainers retainers(view, memory);
    const DeviceHistory& device = view.device_of(memory);
    auto saved_by = ordered_json::array(), path = ordered_json::array(), roots = ordered_json::array();
    for (const uint32_t s : retainers.saved) {
        saved_by.push_back({{"node", view.node_json(view.index().saver(s))}, {"saved", view.saved_json(s)}});
    }
    for (const NodeIndex root : retainers.roots) {
        roots.push_back({{"id", view.nodes().id[root]},
                         {"type", view.index().type(root)},
                         {"state", state_word(view.state(root))},
                         {"referrer", view.referrer_json(view.referrers().of(root))}});
    }
    if (!retainers.saved.empty()) {
        for (const NodeIndex node : view.graph_state().path_to(view.index().saver(retainers.saved.front()))) {
            path.push_back(view.nodes().id[node]);
        }
    }
    const NodeIndex maker = view.index().maker(memory);
    const bool is_older = device.allocations.alloc_event[memory.index] == before_history;
    return {{"time_point", view.when_json()},
            {"allocation", view.memory_json(memory)},
            {"alloc_time_ns", is_older ? ordered_json() : ordered_json(device.alloc_time(memory.index))},
            {"free_time_ns", or_null(device.free_time(memory.index))},
            {"history", history_json(view, memory)},
            {"maker", maker == no_node ? ordered_json() : view.node_json(maker)},
            {"saved_by", std::move(saved_by)},
            {"path", std::move(path)},
            {"roots", std::move(roots)},
            {"referrer", view.referrer_json(view.referrers().of(memory))},
            {"text", release_text(view, memory, retainers)}};
}

}  // namespace tidemark::cli
