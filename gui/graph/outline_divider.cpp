// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/outline_divider.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace tidemark::gui {

namespace {

constexpr size_t most_direct_nodes = 16;  // plain nodes of a group that are not divided further
constexpr size_t fewest_parameters = 4;   // in a box of their own

bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

OutlineDivider::OutlineDivider(const GraphIndex& index, const GraphState& time_point, const GraphRegion& region,
                               const Progress& progress)
    : index_(index),
      tables_(index.tables()),
      stacks_(index.trace().stacks),
      progress_(progress),
      paths_(index.trace()) {
    whole_.nodes = nodes_of(region, index, time_point);
    inside_.resize(tables_.nodes.size());
    for (const NodeIndex node : whole_.nodes) {
        inside_[node] = true;
    }
}

Part OutlineDivider::divide() {
    find_paths();
    divide_by_roots(whole_);
    return std::move(whole_);
}

FrameId OutlineDivider::line(NodeIndex node) const { return stacks_.site(tables_.nodes.stack[node]); }

/// Finds the module of each node; for a parameter, the common module of its users.
void OutlineDivider::find_paths() {
    path_.resize(tables_.nodes.size());
    for (const NodeIndex node : whole_.nodes) {
        path_[node] = paths_.of_origin(tables_.nodes.origin[node]);
    }
    for (const NodeIndex node : whole_.nodes) {
        if (!index_.is_leaf(node)) {
            continue;
        }
        bool first = true;
        for (const NodeIndex parent : index_.parents(node)) {
            if (inside_[parent]) {
                path_[node] = first ? path_[parent] : paths_.common(path_[node], path_[parent]);
                first = false;
            }
        }
    }
}

/// Returns for each node the only root from which it is reachable; no_node if there are several.
std::vector<NodeIndex> OutlineDivider::owners(const std::vector<NodeIndex>& nodes) const {
    std::vector<NodeIndex> owner(tables_.nodes.size(), no_node);
    std::vector<uint32_t> pending(tables_.nodes.size());
    std::vector<bool> reached(tables_.nodes.size());
    std::deque<NodeIndex> ready;
    for (const NodeIndex node : nodes) {
        for (const NodeIndex child : index_.children(node)) {
            pending[child] += inside_[child];
        }
    }
    for (const NodeIndex node : nodes) {
        if (pending[node] == 0) {
            owner[node] = node;
            ready.push_back(node);
        }
    }
    while (!ready.empty()) {
        const NodeIndex node = ready.front();
        ready.pop_front();
        for (const NodeIndex child : index_.children(node)) {
            if (!inside_[child]) {
                continue;
            }
            owner[child] = !reached[child] || owner[child] == owner[node] ? owner[node] : no_node;
            reached[child] = true;
            if (--pending[child] == 0) {
                ready.push_back(child);
            }
        }
    }
    return owner;
}

void OutlineDivider::divide_by_roots(Part& whole) {
    const std::vector<NodeIndex> owner = owners(whole.nodes);
    std::map<NodeIndex, std::vector<NodeIndex>> graphs;
    std::vector<NodeIndex> shared;
    for (const NodeIndex node : whole.nodes) {
        (owner[node] == no_node ? shared : graphs[owner[node]]).push_back(node);
    }
    if (graphs.size() <= 1) {
        divide_by_modules(whole, 0);
        return;
    }
    std::map<std::pair<uint32_t, FrameId>, std::vector<NodeIndex>> alike;
    for (const auto& [root, nodes] : graphs) {
        alike[{tables_.nodes.type[root], line(root)}].push_back(root);
    }
    whole.nodes.clear();
    for (const auto& [like, roots] : alike) {
        add_graphs(whole, like.second, roots, graphs);
    }
    add_shared(whole, std::move(shared));
    bundle(whole);
}

void OutlineDivider::add_graphs(Part& whole, FrameId line, const std::vector<NodeIndex>& roots,
                                std::map<NodeIndex, std::vector<NodeIndex>>& graphs) {
    Part all =
        part_of(whole, GroupKind::graphs, mixed_hash(std::hash<std::string>()(index_.type(roots.front())), line));
    all.repeats = static_cast<uint32_t>(roots.size());
    for (const NodeIndex root : roots) {
        Part& graph =
            all.parts.emplace_back(part_of(all, GroupKind::graph, static_cast<uint64_t>(tables_.nodes.id[root])));
        graph.nodes = std::move(graphs[root]);
        divide_by_modules(graph, 0);
    }
    if (roots.size() == 1) {
        add_part(whole, std::move(all.parts.front()));
    } else {
        bundle(all);
        whole.parts.push_back(std::move(all));
    }
}

/// Adds a part; a part of one node becomes that node.
void OutlineDivider::add_part(Part& parent, Part part) {
    if (part.parts.empty() && part.nodes.size() == 1) {
        parent.nodes.push_back(part.nodes.front());
    } else {
        parent.parts.push_back(std::move(part));
    }
}

void OutlineDivider::add_shared(Part& whole, std::vector<NodeIndex> shared) {
    const auto others =
        std::stable_partition(shared.begin(), shared.end(), [this](NodeIndex n) { return index_.is_leaf(n); });
    Part parameters = part_of(whole, GroupKind::parameters, 0);
    parameters.nodes.assign(shared.begin(), others);
    if (others != shared.end()) {
        Part rest = part_of(whole, GroupKind::whole, 0);
        rest.nodes.assign(others, shared.end());
        divide_by_modules(rest, 0);
        std::move(rest.parts.begin(), rest.parts.end(), std::back_inserter(whole.parts));
        whole.nodes.insert(whole.nodes.end(), rest.nodes.begin(), rest.nodes.end());
    }
    if (parameters.nodes.size() < fewest_parameters) {
        whole.nodes.insert(whole.nodes.end(), parameters.nodes.begin(), parameters.nodes.end());
    } else {
        divide_by_modules(parameters, 0);
        whole.parts.push_back(std::move(parameters));
    }
}

void OutlineDivider::divide_by_modules(Part& part, PathId at) {
    if (progress_.canceled) {
        return;
    }
    std::vector<NodeIndex> direct;
    std::map<PathId, std::vector<NodeIndex>> below;
    for (const NodeIndex node : part.nodes) {
        if (path_[node] == at) {
            direct.push_back(node);
        } else {
            below[paths_.child_toward(path_[node], at)].push_back(node);
        }
    }
    part.nodes.clear();
    std::vector<Module> modules;
    for (auto& [path, nodes] : below) {
        modules.push_back({path, paths_.name(path), std::move(nodes)});
    }
    add_modules(part, modules);
    add_direct_nodes(part, std::move(direct));
    bundle(part);
}

/// Merges numbered modules of one shape; a module with a single submodule absorbs its name.
void OutlineDivider::add_modules(Part& part, std::vector<Module>& modules) {
    std::stable_sort(modules.begin(), modules.end(), [](const Module& a, const Module& b) {
        return is_number(a.name) && is_number(b.name) && std::stoi(a.name) < std::stoi(b.name);
    });
    for (size_t i = 0; i < modules.size();) {
        size_t end = i + 1;
        if (is_number(modules[i].name)) {
            const uint64_t shape = shape_of(modules[i]);
            while (end < modules.size() && is_number(modules[end].name) && shape_of(modules[end]) == shape) {
                ++end;
            }
        }
        if (end - i >= 3) {
            add_repeat(part, std::span(modules).subspan(i, end - i));
        } else {
            for (Module& module : std::span(modules).subspan(i, end - i)) {
                Part inner = part_of(part, GroupKind::module, std::hash<std::string>()(module.name), module.name);
                inner.nodes = std::move(module.nodes);
                divide_by_modules(inner, module.path);
                add_part(part, unwrapped(std::move(inner)));
            }
        }
        i = end;
    }
}

void OutlineDivider::add_repeat(Part& part, std::span<Module> modules) {
    Part repeat = part_of(part, GroupKind::repeat, std::hash<std::string>()(modules.front().name));
    repeat.repeats = static_cast<uint32_t>(modules.size());
    repeat.name = modules.front().name + '\n' + modules.back().name;
    for (Module& module : modules) {
        Part& inner = repeat.parts.emplace_back(
            part_of(repeat, GroupKind::module, std::hash<std::string>()(module.name), module.name));
        inner.nodes = std::move(module.nodes);
        divide_by_modules(inner, module.path);
    }
    bundle(repeat);
    part.parts.push_back(std::move(repeat));
}

/// Turns "transformer" with the single submodule "h" into "transformer.h".
Part OutlineDivider::unwrapped(Part outer) {
    if (!outer.nodes.empty() || outer.parts.size() != 1) {
        return outer;
    }
    Part inner = std::move(outer.parts.front());
    if (inner.kind == GroupKind::module) {
        inner.name = outer.name + '.' + inner.name;
    } else if (inner.kind == GroupKind::repeat) {
        const size_t cut = inner.name.find('\n');
        inner.name = outer.name + '.' + inner.name.substr(0, cut + 1) + outer.name + '.' + inner.name.substr(cut + 1);
    } else {
        outer.parts.front() = std::move(inner);
        return outer;
    }
    return inner;
}

/// Returns a hash that is equal for modules with the same types of nodes at the same paths.
uint64_t OutlineDivider::shape_of(const Module& module) const {
    uint64_t shape = module.nodes.size();
    for (const NodeIndex node : module.nodes) {
        shape += mixed_hash(tables_.nodes.type[node], paths_.relative_hash(path_[node], module.path));
    }
    return shape;
}

void OutlineDivider::add_direct_nodes(Part& part, std::vector<NodeIndex> nodes) {
    if (nodes.size() <= most_direct_nodes) {
        part.nodes.insert(part.nodes.end(), nodes.begin(), nodes.end());
        return;
    }
    const auto is_op = [this](NodeIndex node) { return !index_.is_leaf(node); };
    const auto parameters = std::stable_partition(nodes.begin(), nodes.end(), is_op);
    const std::span<const NodeIndex> ops(nodes.data(), static_cast<size_t>(parameters - nodes.begin()));
    std::vector<uint64_t> keys;
    keys.reserve(ops.size());
    for (const NodeIndex node : ops) {
        keys.push_back(mixed_hash(tables_.nodes.type[node], tables_.nodes.stack[node]));
    }
    std::vector<Part> pieces;
    for (const Run& run : repeated_runs(keys)) {
        add_run(part, pieces, ops.subspan(run.first, run.length * run.times), run);
    }
    add_parameters(part, pieces, {parameters, nodes.end()});
    for (Part& piece : pieces) {
        for (Part& repeated : piece.parts) {
            bundle(repeated);
        }
        bundle(piece);
        add_part(part, std::move(piece));
    }
}

void OutlineDivider::add_run(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes,
                             const Run& run) {
    if (run.times == 1) {
        add_lines(part, pieces, nodes);
        return;
    }
    Part piece = part_of(part, GroupKind::run, static_cast<uint64_t>(tables_.nodes.id[nodes.front()]));
    piece.repeats = run.times;
    piece.name = types_text(nodes.first(run.length));
    if (run.length == 1) {
        piece.nodes.assign(nodes.begin(), nodes.end());
    } else {
        for (uint32_t i = 0; i < run.times; ++i) {
            const auto chain = nodes.subspan(i * run.length, run.length);
            Part& one = piece.parts.emplace_back(
                part_of(piece, GroupKind::part, static_cast<uint64_t>(tables_.nodes.id[chain.front()])));
            one.nodes.assign(chain.begin(), chain.end());
        }
    }
    pieces.push_back(std::move(piece));
}

/// Adds a piece for each sequence of nodes from one source line.
void OutlineDivider::add_lines(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes) {
    for (size_t i = 0; i < nodes.size();) {
        size_t end = i + 1;
        while (end < nodes.size() && line(nodes[end]) == line(nodes[i])) {
            ++end;
        }
        Part& piece =
            pieces.emplace_back(part_of(part, GroupKind::part, static_cast<uint64_t>(tables_.nodes.id[nodes[i]])));
        piece.nodes.assign(nodes.begin() + static_cast<ptrdiff_t>(i), nodes.begin() + static_cast<ptrdiff_t>(end));
        i = end;
    }
}

/// Places a parameter with its users if these lie together.
void OutlineDivider::add_parameters(Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> parameters) {
    std::unordered_map<NodeIndex, Part*> place;
    for (Part& piece : pieces) {
        for (const NodeIndex node : piece.nodes) {
            place[node] = &piece;
        }
        for (Part& one : piece.parts) {
            for (const NodeIndex node : one.nodes) {
                place[node] = &one;
            }
        }
    }
    Part shared = part_of(part, GroupKind::parameters, 0);
    for (const NodeIndex node : parameters) {
        Part* home = nullptr;
        bool together = true;
        for (const NodeIndex parent : index_.parents(node)) {
            const auto found = place.find(parent);
            Part* const there = found == place.end() ? nullptr : found->second;
            together = together && there != nullptr && (home == nullptr || home == there);
            home = there;
        }
        (together && home != nullptr ? *home : shared).nodes.push_back(node);
    }
    if (shared.nodes.size() >= fewest_parameters) {
        pieces.push_back(std::move(shared));
    } else {
        part.nodes.insert(part.nodes.end(), shared.nodes.begin(), shared.nodes.end());
    }
}

std::string OutlineDivider::types_text(std::span<const NodeIndex> nodes) const {
    constexpr size_t most = 3;
    std::string text;
    for (size_t i = 0; i < std::min(nodes.size(), most); ++i) {
        text += (i > 0 ? ", " : "") + index_.type(nodes[i]);
    }
    return nodes.size() > most ? text + ", …" : text;
}

}  // namespace tidemark::gui
