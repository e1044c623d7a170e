// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/source_text.h"

#include <utility>

namespace tidemark {

bool SourceText::add(std::string_view file, int32_t number, std::string text) {
    auto found = files_.find(file);
    if (found == files_.end()) {
        found = files_.emplace(file, Lines()).first;
    }
    return found->second.emplace(number, std::move(text)).second;
}

const std::string* SourceText::line(std::string_view file, int32_t number) const {
    const auto lines = files_.find(file);
    if (lines == files_.end()) {
        return nullptr;
    }
    const auto found = lines->second.find(number);
    return found == lines->second.end() ? nullptr : &found->second;
}

SourceExcerpt SourceText::around(std::string_view file, int32_t number, int32_t distance) const {
    if (line(file, number) == nullptr) {
        return {};
    }
    int32_t first = number, last = number;
    while (number - first < distance && line(file, first - 1) != nullptr) {
        --first;
    }
    while (last - number < distance && line(file, last + 1) != nullptr) {
        ++last;
    }
    SourceExcerpt excerpt{std::string(file), number, {}};
    for (int32_t n = first; n <= last; ++n) {
        excerpt.lines.push_back({n, *line(file, n)});
    }
    return excerpt;
}

}  // namespace tidemark
