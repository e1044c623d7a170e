// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_peak.h"

#include <algorithm>
#include <vector>

namespace tidemark::gui {

namespace {

struct Retention {
    AllocationRef memory;
    int64_t from = 0, to = 0;
};

std::vector<Retention> retentions_of(const GraphIndex& index) {
    const GraphNodes& nodes = index.tables().nodes;
    const SavedTensors& saved = index.tables().saved;
    std::vector<Retention> retentions;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
            const int64_t to = std::min(nodes.released[node], nodes.destroyed[node]);
            if (saved.allocation[s] && nodes.created[node] < to) {
                retentions.push_back({saved.allocation[s], std::max<int64_t>(nodes.created[node], 0), to});
            }
        }
    }
    std::sort(retentions.begin(), retentions.end(), [](const Retention& a, const Retention& b) {
        return std::tuple(a.memory.device, a.memory.index, a.from) <
               std::tuple(b.memory.device, b.memory.index, b.from);
    });
    return retentions;
}

}  // namespace

std::optional<int64_t> graph_peak(const GraphIndex& index) {
    std::vector<std::pair<int64_t, int64_t>> changes;  // time and bytes; memory that several nodes saved counts once
    const std::vector<Retention> retentions = retentions_of(index);
    for (size_t i = 0; i < retentions.size();) {
        const AllocationRef memory = retentions[i].memory;
        const DeviceHistory& device = index.trace().devices[memory.device];
        const auto bytes = static_cast<int64_t>(device.allocations.block_size[memory.index]);
        const int64_t freed = device.free_time(memory.index).value_or(never_happened);
        while (i < retentions.size() && retentions[i].memory == memory) {
            const int64_t from = retentions[i].from;
            int64_t to = retentions[i].to;
            for (++i; i < retentions.size() && retentions[i].memory == memory && retentions[i].from <= to; ++i) {
                to = std::max(to, retentions[i].to);
            }
            changes.emplace_back(from, bytes);
            changes.emplace_back(std::min(to, freed), -bytes);
        }
    }
    std::sort(changes.begin(), changes.end());
    std::optional<int64_t> when;
    int64_t now = 0, most = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
        now += changes[i].second;
        if (now > most) {
            most = now;
            when = changes[i].first;
        }
    }
    return when;
}

}  // namespace tidemark::gui
