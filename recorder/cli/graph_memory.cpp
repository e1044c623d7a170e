// One allocation: what it has been to the program, which nodes keep it and for whom, and what would let it go.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "recorder/cli/describe.h"
#include "recorder/cli/graph_pages.h"
#include "recorder/cli/output.h"
#include "storage/text/referrer_words.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t owners_named = 3;

/// Who keeps the memory through the graph.
struct Retainers {
    Retainers(const GraphView& view, AllocationRef memory);

    std::vector<uint32_t> saved;   ///< positions in SavedTensors
    std::vector<NodeIndex> nodes;  ///< that saved them
    std::vector<NodeIndex> roots;  ///< of all graphs with those nodes
    std::string owners;            ///< of the roots, in words
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
            if (!view.time_point().is_alive(parent)) {
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

/// "list `outputs` (variable of main, s01.py:31), element 3", or else the result as the program knows it.
std::string owner_text(const GraphView& view, NodeIndex root) {
    return view.referrer_text(root).value_or("whoever has the result of " + view.name(root));
}

/// Whoever has hold of these roots, those in one list together.
std::string owners_text(const GraphView& view, const std::vector<NodeIndex>& roots) {
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
    for (const auto& [group, held] : together) {
        const auto count = static_cast<int64_t>(held.size());
        owners.push_back(count == 1 ? owner_text(view, held.front())
                                    : fmt::format("{}{}", count < group->count ? fmt::format("{} of ", count) : "",
                                                  path_words(view.tables(), Words(Language::english), *group)));
    }
    const size_t shown = std::min(owners.size(), owners_named);
    const std::string text = fmt::format("{}", fmt::join(owners.begin(), owners.begin() + shown, "; "));
    return shown < owners.size() ? fmt::format("{}; and {} more", text, owners.size() - shown) : text;
}

Retainers::Retainers(const GraphView& view, AllocationRef memory) {
    if (!view.is_allocated(memory)) {
        return;
    }
    saved = view.time_point().retainers(memory);
    for (const uint32_t s : saved) {
        nodes.push_back(view.index().saver(s));
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    roots = roots_above(view, nodes);
    owners = owners_text(view, roots);
}

bool was_run(const GraphView& view, NodeIndex node) { return view.state(node) == NodeState::kept; }

/// "both nodes", "all 3 nodes"
std::string all_of(size_t count, std::string_view what) {
    return count == 2 ? fmt::format("both {}", what)
                      : fmt::format("all {} {}", format_count(static_cast<int64_t>(count)), what);
}

std::string backward_text(const GraphView& view, const std::vector<NodeIndex>& nodes) {
    const bool all_run = std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) { return was_run(view, node); });
    return fmt::format("when backward runs through {} {}",
                       nodes.size() == 1 ? view.name(nodes.front()) : all_of(nodes.size(), "nodes that saved it"),
                       all_run ? "once more, without retain_graph" : "and releases it");
}

/// Whose it is whatever the graph does; empty for what only the graph and the program's tensors keep.
std::string_view owner_outside(Category category) {
    switch (category) {
        case Category::parameter:
        case Category::buffer: return "its model is deleted";
        case Category::gradient: return "gradients are set to None (zero_grad)";
        case Category::optimizer_state: return "its optimizer is deleted";
        default: return {};
    }
}

/// What would let it go, in a sentence.
std::string release_text(const GraphView& view, AllocationRef memory, const Retainers& retainers) {
    if (!view.is_allocated(memory)) {
        return "It is not allocated at this moment.";
    }
    std::string text;
    const auto condition = [&](const std::string& words) {
        text += (text.empty() ? "It goes when " : ", and ") + words;
    };
    if (const auto outside = owner_outside(view.categories().at(memory, view.time())); !outside.empty()) {
        condition(std::string(outside));
    } else if (const Referrer* referrer = view.referrers().of(memory)) {
        condition(
            fmt::format("its tensor is let go by {}", path_words(view.tables(), Words(Language::english), *referrer)));
    }
    if (!retainers.nodes.empty()) {
        condition(fmt::format("{} let go by {}, or {}",
                              retainers.roots.size() == 1
                                  ? "the graph that keeps it is"
                                  : all_of(retainers.roots.size(), "graphs that keep it") + " are",
                              retainers.owners, backward_text(view, retainers.nodes)));
    }
    return text.empty() ? "No node of the graph keeps it, and who else does is not known." : text + '.';
}

/// Life of the memory: "made at 1.2 s by train.py:42 step, freed at 1.3 s".
std::string lifetime_text(const GraphView& view, AllocationRef memory) {
    const DeviceHistory& device = view.device_of(memory);
    const Allocations& all = device.allocations;
    const StackId stack = all.stack[memory.index];
    std::string text = all.alloc_event[memory.index] == before_history
                           ? "made before the recording"
                           : "made at " + format_time_point(device.alloc_time(memory.index));
    text += stack == 0 ? "" : " by " + view.line_text(stack);
    const auto freed = device.free_time(memory.index);
    return text + (freed ? ", freed at " + format_time_point(*freed) : ", never freed");
}

std::string history_text(const GraphView& view, AllocationRef memory) {
    std::string text;
    for (const CategoryChange& change : view.categories().history(memory)) {
        text += text.empty() ? "" : fmt::format(", from {} ", format_time_point(change.time));
        text += view.category_text(memory, change.category);
    }
    return text;
}

std::string retainer_text(const GraphView& view, uint32_t saved) {
    return fmt::format("{} as {}{}", view.name(view.index().saver(saved)),
                       view.tables().texts[view.tables().saved.name[saved]],
                       view.tables().saved.is_view[saved] ? ", a view" : "");
}

/// Who holds its tensor, and who the graphs that keep it.
std::string referrers_text(const GraphView& view, AllocationRef memory, const Retainers& retainers) {
    const Referrer* referrer = view.referrers().of(memory);
    std::string text = referrer == nullptr ? "" : path_words(view.tables(), Words(Language::english), *referrer);
    text += text.empty() || retainers.owners.empty() ? "" : "; ";
    text += retainers.owners;
    return text.empty() ? "nobody that is known" : text;
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
    const Retainers retainers(view, memory);
    std::string text = fmt::format("{} at {} of device {}, at {}\n", one_line(view.name(memory)),
                                   format_address(view.device_of(memory).allocations.address[memory.index]),
                                   view.device_of(memory).device, view.when());
    const auto row = [&](std::string_view title, std::string_view words) {
        text += fmt::format("{:<11}{}\n", title, one_line(words));
    };
    const NodeIndex maker = view.index().maker(memory);
    row("Life", lifetime_text(view, memory));
    row("Category", history_text(view, memory));
    row("Made by", maker == no_node ? "no forward op with a node" : view.name(maker));
    const size_t shown = limited(retainers.saved.size(), limit);
    row("Kept by", retainers.saved.empty() ? "no node of the graph" : retainer_text(view, retainers.saved.front()));
    for (size_t s = 1; s < shown; ++s) {
        row("", retainer_text(view, retainers.saved[s]));
    }
    text += retainers.saved.empty() ? "" : rest_text(retainers.saved.size() - shown, 11);
    if (!retainers.saved.empty()) {
        const uint32_t first = retainers.saved.front();
        row("Path", fmt::format("{} → {} → this memory", path_text(view, view.index().saver(first)),
                                view.tables().texts[view.tables().saved.name[first]]));
    }
    row("Held by", referrers_text(view, memory, retainers));
    row("", release_text(view, memory, retainers));
    return text;
}

ordered_json memory_json(const GraphView& view, AllocationRef memory) {
    const Retainers retainers(view, memory);
    const DeviceHistory& device = view.device_of(memory);
    auto reachable_from = ordered_json::array(), path = ordered_json::array(), roots = ordered_json::array();
    for (const uint32_t s : retainers.saved) {
        reachable_from.push_back({{"node", view.node_json(view.index().saver(s))}, {"saved", view.saved_json(s)}});
    }
    for (const NodeIndex root : retainers.roots) {
        roots.push_back({{"id", view.nodes().id[root]},
                         {"type", view.index().type(root)},
                         {"state", state_word(view.state(root))},
                         {"referrer", view.referrer_json(view.referrers().of(root))}});
    }
    if (!retainers.saved.empty()) {
        for (const NodeIndex node : view.time_point().path_to(view.index().saver(retainers.saved.front()))) {
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
            {"reachable_from", std::move(reachable_from)},
            {"path", std::move(path)},
            {"roots", std::move(roots)},
            {"referrer", view.referrer_json(view.referrers().of(memory))},
            {"text", release_text(view, memory, retainers)}};
}

}  // namespace tidemark::cli
