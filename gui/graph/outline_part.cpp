// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/outline_part.h"

#include <algorithm>
#include <iterator>

namespace tidemark::gui {

namespace {

constexpr size_t part_size = 32;

/// Cuts `things` into at most part_size pieces of at least that many, and bundles each piece.
template <class T, class Put>
void gather(const Part& parent, std::vector<T>& things, std::vector<Part>& pieces, Put put) {
    const size_t size = std::max(part_size, (things.size() + part_size - 1) / part_size);
    for (size_t from = 0; from < things.size(); from += size) {
        const size_t to = std::min(from + size, things.size());
        Part piece = part_of(parent, GroupKind::part, mixed_hash(from, sizeof(T)));
        piece.name = std::to_string(from + 1) + "–" + std::to_string(to);
        put(piece, std::vector<T>(std::make_move_iterator(things.begin() + static_cast<ptrdiff_t>(from)),
                                  std::make_move_iterator(things.begin() + static_cast<ptrdiff_t>(to))));
        bundle(piece);
        pieces.push_back(std::move(piece));
    }
}

}  // namespace

uint64_t mixed_hash(uint64_t seed, uint64_t value) {
    seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
    return seed * 0xff51afd7ed558ccdull;
}

Part part_of(const Part& parent, GroupKind kind, uint64_t salt, std::string name) {
    Part part;
    part.kind = kind;
    part.key = mixed_hash(mixed_hash(parent.key, static_cast<uint64_t>(kind)), salt);
    part.name = std::move(name);
    return part;
}

void bundle(Part& part) {
    if (part.nodes.size() + part.parts.size() <= most_children) {
        return;
    }
    std::vector<Part> gathered;
    if (part.parts.size() > most_children / 2) {
        gather(part, part.parts, gathered, [](Part& into, std::vector<Part> some) { into.parts = std::move(some); });
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

}  // namespace tidemark::gui
