// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/export/leak_search.h"

#include <algorithm>

#include "storage/export/all_words.h"

namespace tidemark {
namespace {

constexpr size_t prefix_bytes = 4;
constexpr size_t hash_bits = 20;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80; }
bool is_name_char(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

uint32_t hash_of(std::string_view bytes) {
    uint32_t value = 0;
    for (size_t i = 0; i < prefix_bytes; ++i) {
        value = value << 8 | static_cast<unsigned char>(lower(bytes[i]));
    }
    return (value * 2654435761u) >> (32 - hash_bits);
}

}  // namespace

void LeakSearch::add(std::string_view text) {
    all_words(text, is_name_char, [&](std::string_view word) {
        if (word.size() >= shortest_word && std::any_of(word.begin(), word.end(), is_letter)) {
            std::string lowered(word);
            std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
            words_.push_back(std::move(lowered));
        }
        return true;
    });
}

void LeakSearch::prepare() {
    std::sort(words_.begin(), words_.end());
    words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
    is_excepted_.assign(words_.size(), false);
    first_bytes_.assign((size_t{1} << hash_bits) / 64, 0);
    for (const std::string& word : words_) {
        const uint32_t hash = hash_of(word);
        first_bytes_[hash / 64] |= uint64_t{1} << hash % 64;
    }
}

/// Calls found(index of the word) for each word at each position, until it returns true.
template <class Found>
void LeakSearch::search(std::string_view bytes, Found&& found) const {
    for (size_t at = 0; at + shortest_word <= bytes.size(); ++at) {
        const uint32_t hash = hash_of(bytes.substr(at, prefix_bytes));
        if ((first_bytes_[hash / 64] >> hash % 64 & 1) == 0) {
            continue;
        }
        // Words that begin with the same bytes are adjacent: narrow their range byte by byte.
        auto first = words_.begin(), last = words_.end();
        for (size_t length = 0; first != last; ++length) {
            if (first->size() == length) {
                if (found(static_cast<size_t>(first - words_.begin()))) {
                    return;
                }
                ++first;
            }
            if (at + length == bytes.size()) {
                break;
            }
            const char next = lower(bytes[at + length]);
            const auto is_before = [&](const std::string& word, char c) {
                return static_cast<unsigned char>(word[length]) < static_cast<unsigned char>(c);
            };
            const auto is_after = [&](char c, const std::string& word) {
                return static_cast<unsigned char>(c) < static_cast<unsigned char>(word[length]);
            };
            first = std::lower_bound(first, last, next, is_before);
            last = std::upper_bound(first, last, next, is_after);
        }
    }
}

void LeakSearch::except(std::string_view allowed_text) {
    search(allowed_text, [&](size_t word) {
        is_excepted_[word] = true;
        return false;
    });
}

bool LeakSearch::finds_any(std::string_view bytes) const {
    bool is_found = false;
    search(bytes, [&](size_t word) { return is_found = !is_excepted_[word]; });
    return is_found;
}

}  // namespace tidemark
