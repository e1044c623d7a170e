// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/module_paths.h"

#include <algorithm>

namespace tidemark::gui {

namespace {
constexpr size_t deepest = 64;  // of a path; deeper names count to its 64th part
}

ModulePaths::ModulePaths(const Trace& trace) {
    of_origin_.reserve(trace.origins.size());
    for (const Origin& origin : trace.origins) {
        PathId path = 0;
        const std::string& text = origin.module;
        for (size_t from = 0, parts = 0; from < text.size() && parts < deepest; ++parts) {
            const size_t dot = std::min(text.find('.', from), text.size());
            path = child(path, text.substr(from, dot - from));
            from = dot + 1;
        }
        of_origin_.push_back(path);
    }
}

PathId ModulePaths::child(PathId parent, const std::string& name) {
    const auto [entry, is_new] =
        children_.try_emplace(std::to_string(parent) + '.' + name, static_cast<PathId>(names_.size()));
    if (is_new) {
        names_.push_back(name);
        parents_.push_back(parent);
        depth_.push_back(depth_[parent] + 1);
    }
    return entry->second;
}

PathId ModulePaths::common(PathId a, PathId b) const {
    while (a != b) {
        (depth_[a] >= depth_[b] ? a : b) = parents_[depth_[a] >= depth_[b] ? a : b];
    }
    return a;
}

PathId ModulePaths::child_toward(PathId path, PathId above) const {
    while (parents_[path] != above) {
        path = parents_[path];
    }
    return path;
}

std::string ModulePaths::relative(PathId path, PathId above) const {
    std::string text;
    for (; path != above; path = parents_[path]) {
        text = text.empty() ? names_[path] : names_[path] + '.' + text;
    }
    return text;
}

uint64_t ModulePaths::relative_hash(PathId path, PathId above) const {
    uint64_t hash = 0;
    for (; path != above; path = parents_[path]) {
        hash = hash * 0x9e3779b97f4a7c15ull + std::hash<std::string>()(names_[path]);
    }
    return hash;
}

}  // namespace tidemark::gui
