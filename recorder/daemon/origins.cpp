// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/origins.h"

#include <algorithm>

namespace tidemark::recorder {

size_t Origins::Hash::operator()(const OriginKey& key) const {
    uint64_t hash = static_cast<uint64_t>(key.thread);
    for (const uint64_t part : {uint64_t{key.op}, uint64_t{key.phase}, uint64_t{key.compile_context},
                                uint64_t{key.user_metadata}, uint64_t{key.modules}}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
    }
    return hash;
}

ModuleChain Origins::chain(const std::vector<uint64_t>& innermost_first) {
    if (innermost_first.empty()) {
        return 0;
    }
    const auto [entry, added] = chain_ids_.try_emplace(innermost_first, static_cast<ModuleChain>(chains_.size()));
    if (added) {
        chains_.push_back(innermost_first);
    }
    return entry->second;
}

uint32_t Origins::origin(const OriginKey& key) {
    if (key == OriginKey()) {
        return 0;
    }
    const auto [entry, added] = ids_.try_emplace(key, 0);
    if (!added) {
        return entry->second;
    }
    OriginRow row{key.thread, key.op, 0, key.phase, key.compile_context, key.user_metadata};
    const std::vector<uint64_t>& modules = chains_[key.modules];
    const auto named = std::find_if(modules.begin(), modules.end(), [&](uint64_t m) { return names_.contains(m); });
    if (named != modules.end()) {
        row.module = names_[*named];
    }
    entry->second = writer_.origin(row);
    if (named != modules.begin()) {
        unnamed_.push_back({entry->second, row, {modules.begin(), named}});
    }
    return entry->second;
}

void Origins::name_module(uint64_t address, StringId name) {
    const auto [entry, is_new] = names_.try_emplace(address, name);
    if (is_new) {
        fill_in(address, name);
    } else if (entry->second != name) {
        entry->second = name;
        forget_origins_in(address);
    }
}

void Origins::fill_in(uint64_t module, StringId name) {
    for (Unnamed& origin : unnamed_) {
        const auto found = std::find(origin.modules.begin(), origin.modules.end(), module);
        if (found != origin.modules.end()) {
            origin.row.module = name;
            writer_.origin_changed(origin.id, origin.row);
            origin.modules.erase(found, origin.modules.end());
        }
    }
    std::erase_if(unnamed_, [](const Unnamed& origin) { return origin.modules.empty(); });
}

void Origins::forget_origins_in(uint64_t module) {
    std::erase_if(ids_, [&](const auto& entry) {
        const auto& modules = chains_[entry.first.modules];
        return std::find(modules.begin(), modules.end(), module) != modules.end();
    });
}

}  // namespace tidemark::recorder
