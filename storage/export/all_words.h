// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Visits the words of a text.
#pragma once

#include <string_view>

namespace tidemark {

/// Calls accept(word) for each longest run of characters that are part of a word, until it returns false. Returns
/// whether it accepted all words.
template <class IsPart, class Accept>
bool all_words(std::string_view text, IsPart&& is_part, Accept&& accept) {
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_part(text[end])) {
            ++end;
        }
        if (end > at && !accept(text.substr(at, end - at))) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

}  // namespace tidemark
