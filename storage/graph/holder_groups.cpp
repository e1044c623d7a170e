#include "storage/graph/holder_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <span>

namespace tidemark {
namespace {

constexpr size_t most_groups = 252;

/// The number of a link "index"; nothing for other links.
std::optional<int64_t> index_of(const GraphTables& tables, const HolderLink& link) {
    const std::string& text = tables.texts[link.name];
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return link.kind == "index" && is_number ? std::optional(number) : std::nullopt;
}

/// The same for chains that differ in nothing but indices.
std::string shape_of(const GraphTables& tables, const Holder& holder) {
    std::string shape;
    for (const HolderLink& link : holder.links) {
        const uint32_t name = index_of(tables, link) ? 0 : link.name;
        shape += fmt::format("{} {} {} {} {}\n", link.kind, name, link.function, link.file, link.line);
    }
    return shape;
}

/// Finds the outermost index in which the chains differ, or the innermost one where they do not.
void find_range(const GraphTables& tables, HolderGroup& group) {
    for (size_t position = 0; position < group.links.size(); ++position) {
        if (!index_of(tables, group.links[position])) {
            continue;
        }
        std::pair range(INT64_MAX, INT64_MIN);
        for (const uint32_t holder : group.holders) {
            const int64_t index = index_of(tables, tables.holders[holder].links[position]).value_or(0);
            range = {std::min(range.first, index), std::max(range.second, index)};
        }
        group.varying = position;
        std::tie(group.first_index, group.last_index) = range;
        if (range.first < range.second) {
            return;
        }
    }
}

std::string expression(const GraphTables& tables, std::span<const HolderLink> links) {
    std::string text;
    for (const HolderLink& link : links) {
        if (!append_link(text, tables, link)) {
            const std::string& name = tables.texts[link.name];
            text += fmt::format("{}<{}{}{}>", text.empty() ? "" : " ", link.kind, name.empty() ? "" : " ", name);
        }
    }
    return text;
}

/// "variable of main, s01.py:31", "global, s01.py"; empty if nothing is known.
std::string whereabouts(const GraphTables& tables, const HolderLink& link) {
    const std::string& function = tables.texts[link.function];
    const std::string& path = tables.texts[link.file];
    std::string text = link.kind == "local" ? "variable" : link.kind;
    text += function.empty() ? "" : " of " + function;
    if (!path.empty()) {
        text += ", " + path.substr(path.find_last_of("/\\") + 1);
        text += link.line > 0 ? fmt::format(":{}", link.line) : "";
    }
    return text;
}

/// What nodes saved has tensors that only C++ holds: these nodes, and nobody beside the graph.
bool is_the_graphs_own(const GraphMoment& moment, const Holder& holder) {
    if (holder.links.empty() || !is_native(holder)) {
        return false;
    }
    const auto parents = holder.node == no_node ? std::span<const NodeIndex>() : moment.index().parents(holder.node);
    return std::any_of(parents.begin(), parents.end(), [&](NodeIndex parent) { return moment.is_alive(parent); }) ||
           (holder.allocation && !moment.keepers(holder.allocation).empty());
}

}  // namespace

bool append_link(std::string& text, const GraphTables& tables, const HolderLink& link) {
    const std::string& name = tables.texts[link.name];
    if (link.kind == "attribute") {
        text += '.' + name;
    } else if (link.kind == "item") {
        text += fmt::format("[{:?}]", name);
    } else if (link.kind == "index") {
        text += fmt::format("[{}]", name);
    } else if (text.empty() && !name.empty()) {
        text = name;
    } else {
        return false;
    }
    return true;
}

bool is_native(const Holder& holder) { return holder.links.empty() || holder.links.front().kind == "native"; }

HolderIndex::HolderIndex(const GraphIndex& index, int64_t time) : index_(index) {
    const auto& scans = index.tables().scans;
    if (scans.empty()) {
        return;
    }
    const auto after = std::upper_bound(scans.begin(), scans.end(), time,
                                        [](int64_t t, const HolderScan& scan) { return t < scan.time; });
    scan_ = static_cast<uint32_t>(after == scans.begin() ? 0 : after - scans.begin() - 1);
    const auto& holders = index.tables().holders;
    for (uint32_t h = 0; h < holders.size(); ++h) {
        if (holders[h].scan != *scan_) {
            continue;
        }
        holders_.push_back(h);
        if (holders[h].node != no_node) {
            by_node_.try_emplace(holders[h].node, h);
        }
        if (holders[h].allocation) {
            by_memory_.try_emplace(memory_key(holders[h].allocation), h);
        }
    }
}

const HolderScan* HolderIndex::scan() const { return scan_ ? &index_.tables().scans[*scan_] : nullptr; }

const Holder* HolderIndex::of(NodeIndex node) const {
    if (const auto found = by_node_.find(node); found != by_node_.end()) {
        return &index_.tables().holders[found->second];
    }
    return node == no_node ? nullptr : of(index_.tables().nodes.output[node]);
}

const Holder* HolderIndex::of(AllocationRef allocation) const {
    const auto found = allocation ? by_memory_.find(memory_key(allocation)) : by_memory_.end();
    return found == by_memory_.end() ? nullptr : &index_.tables().holders[found->second];
}

std::vector<HolderGroup> holder_groups(const GraphMoment& moment, const HolderIndex& holders) {
    const GraphTables& tables = moment.index().tables();
    std::map<std::string, HolderGroup> by_shape;
    for (const uint32_t h : holders.holders()) {
        if (is_the_graphs_own(moment, tables.holders[h])) {
            continue;
        }
        by_shape[shape_of(tables, tables.holders[h])].holders.push_back(h);
    }
    std::vector<HolderGroup> groups;
    for (auto& [shape, group] : by_shape) {
        groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const HolderGroup& a, const HolderGroup& b) { return a.holders.size() > b.holders.size(); });
    groups.resize(std::min(groups.size(), most_groups));

    std::vector<Held> held;
    for (HolderGroup& group : groups) {
        group.links = tables.holders[group.holders.front()].links;
        group.count = static_cast<int64_t>(group.holders.size());
        find_range(tables, group);
        Held& has = held.emplace_back();
        std::set<uint64_t> memory;
        for (const uint32_t h : group.holders) {
            const Holder& holder = tables.holders[h];
            if (holder.node != no_node) {
                has.nodes.push_back(holder.node);
            }
            if (holder.allocation && memory.insert(memory_key(holder.allocation)).second) {
                has.allocations.push_back(holder.allocation);
            }
        }
        group.allocations = static_cast<int64_t>(memory.size());
    }
    const std::vector<Kept> kept = moment.kept_by(held);
    for (size_t g = 0; g < groups.size(); ++g) {
        groups[g].nodes = kept[g].nodes;
        groups[g].kept_bytes = kept[g].bytes;
        groups[g].freed_bytes = kept[g].freed_bytes;
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const HolderGroup& a, const HolderGroup& b) { return a.kept_bytes > b.kept_bytes; });
    return groups;
}

std::string describe_holder(const GraphTables& tables, const HolderGroup& group) {
    if (group.links.empty()) {
        return "unknown";
    }
    const std::span links(group.links);
    const size_t end = group.varying.value_or(links.size());
    std::string text = fmt::format("{}`{}` ({})", group.varying ? "list " : "", expression(tables, links.first(end)),
                                   whereabouts(tables, links.front()));
    if (!group.varying) {
        return text;
    }
    text += group.first_index == group.last_index
                ? fmt::format(", element {}", group.first_index)
                : fmt::format(", elements {} to {}", group.first_index, group.last_index);
    const std::string rest = expression(tables, links.subspan(end + 1));
    return rest.empty() ? text : fmt::format("{}, there `{}`", text, rest);
}

std::string describe_holder(const GraphTables& tables, const Holder& holder) {
    HolderGroup alone;
    alone.links = holder.links;
    for (size_t position = 0; position < holder.links.size(); ++position) {
        if (const auto index = index_of(tables, holder.links[position])) {
            alone.varying = position;
            alone.first_index = alone.last_index = *index;
        }
    }
    return describe_holder(tables, alone);
}

}  // namespace tidemark
