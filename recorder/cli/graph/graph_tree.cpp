// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/graph/graph_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

namespace tidemark::cli {
namespace {

constexpr int most_levels = 64;  ///< limits the nesting in damaged or hostile files

struct Module {
    std::map<std::string, std::unique_ptr<Module>, std::less<>> modules;
    std::map<std::string, std::vector<NodeIndex>> types;

    Module& inner(std::string_view path) {
        Module* at = this;
        for (int level = 1; !path.empty(); ++level) {
            const size_t end = level == most_levels ? path.npos : path.find('.');
            auto& inner = at->modules[std::string(path.substr(0, end))];
            if (inner == nullptr) {
                inner = std::make_unique<Module>();
            }
            at = inner.get();
            path = end == path.npos ? "" : path.substr(end + 1);
        }
        return *at;
    }
};

std::optional<int64_t> number_of(const std::string& name) {
    int64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    return std::to_string(number) == name ? std::optional(number) : std::nullopt;
}

/// Returns a key that is equal for modules with the same names, types and numbers of nodes.
std::string shape_of(const TreeRow& row) {
    std::string shape = row.rows.empty() ? fmt::format("{}", row.nodes.size()) : "(";
    for (const TreeRow& inner : row.rows) {
        shape += fmt::format("{} {},", inner.name, shape_of(inner));
    }
    return row.rows.empty() ? shape : shape + ')';
}

/// Adds the nodes of `other`, which has the same shape.
void merge(TreeRow& row, const TreeRow& other) {
    row.nodes.insert(row.nodes.end(), other.nodes.begin(), other.nodes.end());
    for (size_t i = 0; i < row.rows.size(); ++i) {
        merge(row.rows[i], other.rows[i]);
    }
}

/// Merges modules 0, 1, 2, ... with the same contents into one row.
std::vector<TreeRow> merged_repeats(const Words& words, std::map<int64_t, TreeRow> numbered) {
    std::vector<TreeRow> rows;
    std::string shape;
    int64_t first = 0, next = 0;
    for (auto& [number, row] : numbered) {
        const std::string its_shape = shape_of(row);
        if (!rows.empty() && number == next && its_shape == shape) {
            merge(rows.back(), row);
            rows.back().modules += 1;
            rows.back().name = words("{first} to {last}", with("first", first), with("last", number));
        } else {
            first = number;
            shape = its_shape;
            rows.push_back(std::move(row));
        }
        next = number + 1;
    }
    return rows;
}

TreeRow row_of(const Words& words, std::string name, Module& module) {
    TreeRow whole;
    whole.name = std::move(name);
    std::map<int64_t, TreeRow> numbered;
    for (auto& [part, inner] : module.modules) {
        TreeRow row = row_of(words, part, *inner);
        whole.nodes.insert(whole.nodes.end(), row.nodes.begin(), row.nodes.end());
        if (const auto number = number_of(part)) {
            numbered.emplace(*number, std::move(row));
        } else {
            whole.rows.push_back(std::move(row));
        }
    }
    for (TreeRow& row : merged_repeats(words, std::move(numbered))) {
        whole.rows.push_back(std::move(row));
    }
    for (auto& [type, nodes] : module.types) {
        whole.nodes.insert(whole.nodes.end(), nodes.begin(), nodes.end());
        TreeRow& row = whole.rows.emplace_back();
        row.name = type;
        row.nodes = std::move(nodes);
    }
    const bool has_one_module = whole.rows.size() == 1 && !whole.rows.front().rows.empty();
    if (!has_one_module || whole.name.empty()) {
        return whole;
    }
    TreeRow only = std::move(whole.rows.front());
    only.name = whole.name + '.' + only.name;
    return only;
}

void add_bytes(const GraphView& view, TreeRow& row) {
    row.reachable_bytes = view.reachable_bytes(row.nodes);
    for (TreeRow& inner : row.rows) {
        add_bytes(view, inner);
    }
    std::stable_sort(row.rows.begin(), row.rows.end(),
                     [](const TreeRow& a, const TreeRow& b) { return a.reachable_bytes > b.reachable_bytes; });
}

}  // namespace

TreeRow graph_tree(const GraphView& view, std::span<const NodeIndex> nodes) {
    Module whole;
    for (const NodeIndex node : nodes) {
        whole.inner(view.module(node)).types[view.index().type(node)].push_back(node);
    }
    TreeRow tree = row_of(view.words(), "", whole);
    add_bytes(view, tree);
    return tree;
}

}  // namespace tidemark::cli
