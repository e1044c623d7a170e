// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Sentences in the reader's language. The code contains them in English, and a catalog translates them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/units.h"

namespace tidemark {

enum class Language : uint8_t { english, chinese };
/// Accepts "en", "zh_CN" and names of locales: "zh_CN.UTF-8", "de_DE" (English). Returns nothing for other text.
std::optional<Language> language_from_name(std::string_view name);
/// Returns "en", "zh_CN".
std::string_view language_name(Language language);

/// The value of the placeholder {name} in a sentence.
struct With {
    std::string_view name;
    std::string value;
};
template <class Value>
With with(std::string_view name, const Value& value) {
    return {name, fmt::to_string(value)};
}

/// Returns a sentence: words("{bytes} from {line}", with("bytes", ...), with("line", ...)). The English text must be a
/// literal: the build extracts it with xgettext, and resources/translations/zh_CN.po translates it with the same
/// placeholders. Immutable. Thread: any.
class Words {
public:
    explicit Words(Language language) : language_(language) {}
    Language language() const { return language_; }

    template <class... Values>
    std::string operator()(std::string_view english, const Values&... values) const {
        return filled(translated(english), {values...});
    }
    /// Returns `one` if n is 1, otherwise `many`. {n} in both is the number with separators: words.plural(n, "{n}
    /// tensor is retained by {referrer}", "{n} tensors are retained by {referrer}", ...).
    template <class... Values>
    std::string plural(int64_t n, std::string_view one, std::string_view many, const Values&... values) const {
        return filled(translated_plural(n, one, many), {with("n", format_count(n)), values...});
    }
    /// Returns "a, b and c".
    std::string list(const std::vector<std::string>& items) const;
    /// Joins non-empty sentences, separated by a space if the language uses spaces.
    std::string sentences(const std::vector<std::string>& sentences) const;
    /// Returns "12.3 %".
    static std::string percent(double share);

private:
    std::string_view translated(std::string_view english) const;
    std::string_view translated_plural(int64_t n, std::string_view one, std::string_view many) const;
    /// Replaces each {name} with its value. Other braces stay.
    static std::string filled(std::string_view text, std::initializer_list<With> values);

    Language language_;
};

}  // namespace tidemark
