// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Sentences in the reader's language. The code contains them in English, and a catalog translates them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/sentence.h"

namespace tidemark {

enum class Language : uint8_t { english, chinese };
/// Accepts "en", "zh_CN" and names of locales: "zh_CN.UTF-8", "de_DE" (English). Returns nothing for other text.
std::optional<Language> language_from_name(std::string_view name);
/// Returns the language of the environment's locale; English if it names none.
Language language_of_locale();
/// Returns "en", "zh_CN".
std::string_view language_name(Language language);

/// Returns a sentence: words("{bytes} from {line}", with("bytes", ...), with("line", ...)). The English text must be a
/// literal: the build extracts it with xgettext, and resources/translations/zh_CN.po translates it with the same
/// placeholders. Immutable. Thread: any.
class Words {
public:
    explicit Words(Language language) : language_(language) {}
    Language language() const { return language_; }

    template <class... Values>
    std::string operator()(std::string_view english, const Values&... values) const {
        return with_values(translated(english), std::array<With, sizeof...(values)>{values...});
    }
    /// Returns `one` if n is 1, otherwise `many`. {n} in both is the number with separators: words.plural(n, "{n}
    /// tensor is retained by {referrer}", "{n} tensors are retained by {referrer}", ...).
    template <class... Values>
    std::string plural(int64_t n, std::string_view one, std::string_view many, const Values&... values) const {
        return with_values(translated(one, n == 1 ? one : many),
                           std::array<With, 1 + sizeof...(values)>{with("n", format_count(n)), values...});
    }
    /// Returns a sentence that was composed elsewhere, such as that of an error.
    std::string translate(const Sentence& sentence) const;
    /// Returns "a, b and c".
    std::string list(const std::vector<std::string>& items) const;
    /// Joins non-empty sentences, separated by a space if the language uses spaces.
    std::string sentences(const std::vector<std::string>& sentences) const;
    /// Returns "12.3 %".
    static std::string percent(double share);

private:
    std::string_view translated(std::string_view english) const { return translated(english, english); }
    /// Returns the catalog's text for `key`, or `form` if it has none.
    std::string_view translated(std::string_view key, std::string_view form) const;
    std::string with_values(std::string_view text, std::span<const With> values) const;

    Language language_;
};

}  // namespace tidemark
