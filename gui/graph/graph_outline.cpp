#include "gui/graph/graph_outline.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "gui/graph/held_memory.h"
#include "gui/graph/module_paths.h"
#include "gui/graph/repeated_runs.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_loose = 16;        // plain nodes of a group that need no gathering
constexpr size_t fewest_parameters = 4;  // that share a box
constexpr size_t part_size = 32;

uint64_t mix(uint64_t seed, uint64_t value) {
    seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
    return seed * 0xff51afd7ed558ccdull;
}

/// A group while it is divided. `nodes` are those in none of its parts.
struct Part {
    GroupKind kind = GroupKind::whole;
    uint64_t key = 1;
    uint32_t repeats = 1;
    std::string name;
    std::vector<NodeIndex> nodes;
    std::vector<Part> parts;
};

Part part_of(const Part& parent, GroupKind kind, uint64_t salt, std::string name = {}) {
    Part part;
    part.kind = kind;
    part.key = mix(mix(parent.key, static_cast<uint64_t>(kind)), salt);
    part.name = std::move(name);
    return part;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 10 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

class OutlineBuilder {
public:
    OutlineBuilder(const GraphIndex& index, const GraphState& time_point, const GraphRegion& region,
                   const Progress& progress)
        : index_(index),
          tables_(index.tables()),
          stacks_(index.trace().stacks),
          time_point_(time_point),
          progress_(progress),
          paths_(index.trace()),
          held_(index, time_point.time()) {
        whole_.nodes = nodes_of(region, index, time_point);
        inside_.resize(tables_.nodes.size());
        for (const NodeIndex node : whole_.nodes) {
            inside_[node] = true;
        }
    }

    std::shared_ptr<const GraphOutline> build() {
        find_paths();
        divide_by_roots(whole_);
        if (progress_.canceled) {
            return nullptr;
        }
        auto outline = std::make_shared<GraphOutline>();
        outline->position_.assign(tables_.nodes.size(), UINT32_MAX);
        flatten(*outline);
        return add_up(*outline) ? outline : nullptr;
    }

private:
    FrameId line(NodeIndex node) const { return stacks_.user_frame(tables_.nodes.stack[node]); }

    /// The module of each node; of a parameter: the one all its users lie in.
    void find_paths() {
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

    // ---- graphs by their roots ----------------------------------------------------------------------------------

    /// For each node the only root of the region that keeps it; no_node: several do.
    std::vector<NodeIndex> owners(const std::vector<NodeIndex>& nodes) const {
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

    void divide_by_roots(Part& whole) {
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

    void add_graphs(Part& whole, FrameId line, const std::vector<NodeIndex>& roots,
                    std::map<NodeIndex, std::vector<NodeIndex>>& graphs) {
        Part all = part_of(whole, GroupKind::graphs, mix(std::hash<std::string>()(index_.type(roots.front())), line));
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

    /// A group of one node is that node.
    static void add_part(Part& parent, Part part) {
        if (part.parts.empty() && part.nodes.size() == 1) {
            parent.nodes.push_back(part.nodes.front());
        } else {
            parent.parts.push_back(std::move(part));
        }
    }

    void add_shared(Part& whole, std::vector<NodeIndex> shared) {
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

    // ---- modules --------------------------------------------------------------------------------------------------

    void divide_by_modules(Part& part, PathId at) {
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
        add_loose(part, std::move(direct));
        bundle(part);
    }

    struct Module {
        PathId path;
        std::string name;
        std::vector<NodeIndex> nodes;
    };

    /// Those with numbers that are alike inside become one; a module that only holds another one takes its name in.
    void add_modules(Part& part, std::vector<Module>& modules) {
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

    void add_repeat(Part& part, std::span<Module> modules) {
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

    /// "transformer" that holds nothing but "h" is "transformer.h".
    static Part unwrapped(Part outer) {
        if (!outer.nodes.empty() || outer.parts.size() != 1) {
            return outer;
        }
        Part inner = std::move(outer.parts.front());
        if (inner.kind == GroupKind::module) {
            inner.name = outer.name + '.' + inner.name;
        } else if (inner.kind == GroupKind::repeat) {
            const size_t cut = inner.name.find('\n');
            inner.name =
                outer.name + '.' + inner.name.substr(0, cut + 1) + outer.name + '.' + inner.name.substr(cut + 1);
        } else {
            outer.parts.front() = std::move(inner);
            return outer;
        }
        return inner;
    }

    /// The same for modules with the same types of nodes at the same places inside.
    uint64_t shape_of(const Module& module) const {
        uint64_t shape = module.nodes.size();
        for (const NodeIndex node : module.nodes) {
            shape += mix(tables_.nodes.type[node], paths_.relative_hash(path_[node], module.path));
        }
        return shape;
    }

    // ---- nodes without modules of their own
    // ---------------------------------------------------------------------------

    void add_loose(Part& part, std::vector<NodeIndex> nodes) {
        if (nodes.size() <= most_loose) {
            part.nodes.insert(part.nodes.end(), nodes.begin(), nodes.end());
            return;
        }
        const auto is_op = [this](NodeIndex node) { return !index_.is_leaf(node); };
        const auto parameters = std::stable_partition(nodes.begin(), nodes.end(), is_op);
        const std::span<const NodeIndex> ops(nodes.data(), static_cast<size_t>(parameters - nodes.begin()));
        std::vector<uint64_t> keys;
        keys.reserve(ops.size());
        for (const NodeIndex node : ops) {
            keys.push_back(mix(tables_.nodes.type[node], tables_.nodes.stack[node]));
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

    void add_run(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes, const Run& run) {
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

    /// Nodes that one line made, one after the other.
    void add_lines(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes) {
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

    /// A parameter goes with its users where these lie together.
    void add_parameters(Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> parameters) {
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

    std::string types_text(std::span<const NodeIndex> nodes) const {
        constexpr size_t most = 3;
        std::string text;
        for (size_t i = 0; i < std::min(nodes.size(), most); ++i) {
            text += (i > 0 ? ", " : "") + index_.type(nodes[i]);
        }
        return nodes.size() > most ? text + ", …" : text;
    }

    // ---- no group has more than a few dozen children
    // --------------------------------------------------------------------

    void bundle(Part& part) const {
        if (part.nodes.size() + part.parts.size() <= most_children) {
            return;
        }
        std::vector<Part> gathered;
        if (part.parts.size() > most_children / 2) {
            gather(part, part.parts, gathered,
                   [](Part& into, std::vector<Part> some) { into.parts = std::move(some); });
            part.parts = std::move(gathered);
            gathered.clear();
        }
        if (part.nodes.size() > most_children / 2) {
            gather(part, part.nodes, gathered,
                   [](Part& into, std::vector<NodeIndex> some) { into.nodes = std::move(some); });
            part.nodes.clear();
            std::move(gathered.begin(), gathered.end(), std::back_inserter(part.parts));
        }
    }

    /// Cuts `things` into at most part_size pieces of at least that many, and those again.
    template <class T, class Put>
    void gather(const Part& parent, std::vector<T>& things, std::vector<Part>& pieces, Put put) const {
        const size_t size = std::max(part_size, (things.size() + part_size - 1) / part_size);
        for (size_t from = 0; from < things.size(); from += size) {
            const size_t to = std::min(from + size, things.size());
            Part piece = part_of(parent, GroupKind::part, mix(from, sizeof(T)));
            piece.name = std::to_string(from + 1) + "–" + std::to_string(to);
            put(piece, std::vector<T>(std::make_move_iterator(things.begin() + static_cast<ptrdiff_t>(from)),
                                      std::make_move_iterator(things.begin() + static_cast<ptrdiff_t>(to))));
            bundle(piece);
            pieces.push_back(std::move(piece));
        }
    }

    // ---- the finished outline
    // ---------------------------------------------------------------------------------------------

    void flatten(GraphOutline& outline) const {
        std::vector<const Part*> parts{&whole_};
        outline.groups_.push_back(shell(whole_, no_group));
        for (size_t g = 0; g < parts.size(); ++g) {
            outline.groups_[g].first_group = static_cast<GroupIndex>(parts.size());
            outline.groups_[g].group_count = static_cast<uint32_t>(parts[g]->parts.size());
            for (const Part& inner : parts[g]->parts) {
                parts.push_back(&inner);
                outline.groups_.push_back(shell(inner, static_cast<GroupIndex>(g)));
            }
        }
        place_nodes(outline, parts);
        for (GroupIndex g = 0; g < outline.groups_.size(); ++g) {
            outline.by_key_.emplace(outline.groups_[g].key, g);
        }
    }

    static OutlineGroup shell(const Part& part, GroupIndex parent) {
        OutlineGroup group;
        group.kind = part.kind;
        group.key = part.key;
        group.parent = parent;
        group.repeats = part.repeats;
        group.name = part.name;
        group.loose_nodes = static_cast<uint32_t>(part.nodes.size());
        return group;
    }

    /// Children come after their parents in groups(), so counts add up backwards and places forwards.
    static void place_nodes(GraphOutline& outline, const std::vector<const Part*>& parts) {
        auto& groups = outline.groups_;
        for (size_t g = groups.size(); g-- > 0;) {
            groups[g].node_count += groups[g].loose_nodes;
            if (groups[g].parent != no_group) {
                groups[groups[g].parent].node_count += groups[g].node_count;
            }
        }
        outline.order_.resize(groups[0].node_count);
        for (size_t g = 0; g < groups.size(); ++g) {
            std::copy(parts[g]->nodes.begin(), parts[g]->nodes.end(), outline.order_.begin() + groups[g].first_node);
            uint32_t next = groups[g].first_node + groups[g].loose_nodes;
            for (uint32_t i = 0; i < groups[g].group_count; ++i) {
                OutlineGroup& inner = groups[groups[g].first_group + i];
                inner.first_node = next;
                next += inner.node_count;
            }
        }
        for (uint32_t i = 0; i < outline.order_.size(); ++i) {
            outline.position_[outline.order_[i]] = i;
        }
    }

    bool add_up(GraphOutline& outline) {
        std::vector<std::vector<GroupIndex>> counted_in;
        for (const DeviceHistory& device : index_.trace().devices) {
            counted_in.emplace_back(device.allocations.size(), no_group);
        }
        for (GroupIndex g = 0; g < outline.groups_.size(); ++g) {
            if (progress_.canceled) {
                return false;
            }
            add_up(outline, g, counted_in);
        }
        return true;
    }

    void add_up(GraphOutline& outline, GroupIndex g, std::vector<std::vector<GroupIndex>>& counted_in) const {
        OutlineGroup& group = outline.groups_[g];
        GroupTotals& totals = group.totals;
        const auto within = [&](NodeIndex node) {
            return outline.contains(node) && outline.position_[node] - group.first_node < group.node_count;
        };
        for (const NodeIndex node : outline.nodes(group)) {
            const bool holds = held_.holds(node);
            held_.for_each_saved(node, [&](uint32_t s) {
                const AllocationRef memory = tables_.saved.allocation[s];
                ++(holds ? totals.saved_held : totals.saved_released);
                if (holds && memory && time_point_.is_the_graphs(memory) && counted_in[memory.device][memory.index] != g) {
                    counted_in[memory.device][memory.index] = g;
                    totals.shallow_bytes += static_cast<int64_t>(held_.bytes(memory));
                }
            });
            const NodeIndex dominator = time_point_.dominator(node);
            if (dominator == no_node || !within(dominator)) {
                totals.retained_bytes += time_point_.retained_bytes(node);
            }
            add_state(totals, node);
            const auto parents = index_.parents(node);
            if (std::none_of(parents.begin(), parents.end(), within) &&
                (group.face == no_node || time_point_.retained_bytes(node) > time_point_.retained_bytes(group.face))) {
                group.face = node;
            }
        }
        if (group.face == no_node && group.node_count > 0) {
            group.face = outline.order_[group.first_node];
        }
    }

    void add_state(GroupTotals& totals, NodeIndex node) const {
        const NodeState state = index_.state(node, time_point_.time());
        totals.pending += state == NodeState::pending;
        totals.kept += state == NodeState::kept;
        totals.released += state == NodeState::released;
        if (const int32_t step = index_.step_of(node); step >= 0) {
            totals.first_step = totals.first_step < 0 ? step : std::min(totals.first_step, step);
            totals.last_step = std::max(totals.last_step, step);
        }
    }

    const GraphIndex& index_;
    const GraphTables& tables_;
    const StackTable& stacks_;
    const GraphState& time_point_;
    const Progress& progress_;
    const ModulePaths paths_;
    const HeldMemory held_;
    Part whole_;
    std::vector<bool> inside_;
    std::vector<PathId> path_;
};

std::shared_ptr<const GraphOutline> GraphOutline::make(const GraphIndex& index, const GraphState& time_point,
                                                       const GraphRegion& region, const Progress& progress) {
    return OutlineBuilder(index, time_point, region, progress).build();
}

GroupIndex GraphOutline::group_of(NodeIndex node) const {
    if (!contains(node)) {
        return no_group;
    }
    const uint32_t place = position_[node];
    for (GroupIndex g = 0;;) {
        const OutlineGroup& group = groups_[g];
        if (place < group.first_node + group.loose_nodes) {
            return g;
        }
        const auto inner = groups_.begin() + group.first_group;
        const auto after = std::upper_bound(inner, inner + group.group_count, place,
                                            [](uint32_t p, const OutlineGroup& of) { return p < of.first_node; });
        g = static_cast<GroupIndex>(after - groups_.begin() - 1);
    }
}

GroupIndex GraphOutline::find(uint64_t key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? no_group : found->second;
}

std::vector<uint64_t> GraphOutline::opened_at_first() const {
    constexpr uint32_t comfortable =
        36;  // boxes; a picture with more is begun only where a group has no smaller inside
    std::vector<uint64_t> opened;
    std::deque<GroupIndex> closed{0};
    uint32_t boxes = 1;
    while (!closed.empty() && opened.size() < comfortable) {
        const OutlineGroup& group = groups_[closed.front()];
        closed.pop_front();
        const uint32_t inside = group.group_count + group.loose_nodes;
        const bool repeats = group.repeats > 1 || group.kind == GroupKind::parameters;
        const uint32_t room = opened.empty() ? static_cast<uint32_t>(most_boxes_at_first) : comfortable;
        if (repeats || boxes + inside > room) {
            continue;
        }
        boxes += inside;
        opened.push_back(group.key);
        for (uint32_t i = 0; i < group.group_count; ++i) {
            closed.push_back(group.first_group + i);
        }
    }
    return opened;
}

}  // namespace tidemark::gui
