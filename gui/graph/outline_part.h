// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A group of the graph while it is being divided.
#pragma once

#include <string>
#include <vector>

#include "gui/graph/graph_outline.h"

namespace tidemark::gui {

/// `nodes` are those in none of the parts.
struct Part {
    GroupKind kind = GroupKind::whole;
    uint64_t key = 1;
    uint32_t repeats = 1;
    std::string name;
    std::vector<NodeIndex> nodes;
    std::vector<Part> parts;
};

uint64_t mixed_hash(uint64_t seed, uint64_t value);

/// Returns an empty part whose key depends on the parent's key, its kind and `salt`.
Part part_of(const Part& parent, GroupKind kind, uint64_t salt, std::string name = {});

/// Gathers the children of a part into further parts until it has at most `most_children`.
void bundle(Part& part);

}  // namespace tidemark::gui
