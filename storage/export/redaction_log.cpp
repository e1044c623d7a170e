// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/redaction.h"

#include <algorithm>

namespace tidemark {

namespace {
/// Returns whether only the folders before a public path were removed. Own files say more.
bool is_shortened(const RemovedTexts::Text& text) { return !text.after.empty() && text.before.ends_with(text.after); }
}  // namespace

void RedactionLog::add(RemovedKind kind, const std::string& before, const std::string& after) {
    if (before == after) {
        return;
    }
    Removed& removed = removed_[kind];
    if (removed.known.insert(before).second) {
        removed.texts.push_back({before, after});
    }
}

void RedactionLog::add_all(RemovedKind kind, int64_t count, const std::string& example) {
    Removed& removed = removed_[kind];
    if (!example.empty() && removed.texts.empty()) {
        removed.texts.push_back({example, {}});
        --count;
    }
    removed.further += count;
}

std::vector<RemovedTexts> RedactionLog::removed(const AllowedTexts& allowed) const {
    std::vector<RemovedTexts> all;
    for (const auto& [kind, removed] : removed_) {
        RemovedTexts texts{kind, removed.further, {}};
        std::vector<RemovedTexts::Text> ordered = removed.texts;
        std::stable_partition(ordered.begin(), ordered.end(),
                              [](const RemovedTexts::Text& text) { return !is_shortened(text); });
        for (const RemovedTexts::Text& text : ordered) {
            if (allowed.contains(text.before)) {
                continue;  // the same text is public in another place
            }
            ++texts.count;
            texts.texts.push_back(text);
        }
        if (texts.count > 0) {
            all.push_back(std::move(texts));
        }
    }
    return all;
}

}  // namespace tidemark
