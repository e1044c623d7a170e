// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Searches bytes for the words of texts that must not be in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Searches for many words at once, in one pass over the bytes; the letters A to Z are equal to a to z.
///
/// A word is a run of letters, digits, "_" and bytes from 0x80 on, with at least one letter. Words below eight bytes
/// are not searched: in 100 MB of numbers they appear by chance.
class LeakSearch {
public:
    static constexpr size_t shortest_word = 8;

    /// Adds the words of a text that was removed.
    void add(std::string_view text);
    /// Sorts the words. Add no more afterwards.
    void prepare();
    /// Removes all words that appear in a text that may stay. Requires prepare().
    void except(std::string_view allowed_text);

    bool finds_any(std::string_view bytes) const;

private:
    template <class Found>
    void search(std::string_view bytes, Found&& found) const;

    std::vector<std::string> words_;     ///< sorted, lower case
    std::vector<bool> is_excepted_;      ///< by word
    std::vector<uint64_t> first_bytes_;  ///< a set of hashes of the words' first four bytes
};

}  // namespace tidemark
