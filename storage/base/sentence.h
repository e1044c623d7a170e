// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A sentence that does not know its reader's language yet: English text with placeholders {name}, and their values.
// Words (storage/text) translates it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "storage/base/units.h"

namespace tidemark {

struct With;

/// English text in the source code: xgettext extracts only literals.
struct Literal {
    consteval Literal(const char* english) : text(english) {}
    std::string_view text;
};

/// A value. The build extracts the literals, and resources/translations/zh_CN.po translates them with the same
/// placeholders.
class Sentence {
public:
    /// Sentence("{path} is empty.", with("path", path))
    template <class... Values>
    explicit Sentence(Literal english, Values... values)
        : key_(english.text), form_(english.text), values_{std::move(values)...} {}
    /// Takes `one` if n is 1, else `many`; {n} in both is the number with separators.
    template <class... Values>
    static Sentence plural(int64_t n, Literal one, Literal many, Values... values);

    /// Returns the sentence in English: for files, logs and JSON.
    std::string english() const;

    /// Returns the text that catalogs have: of a plural, the singular.
    std::string_view key() const { return key_; }
    /// Returns the English text with placeholders: of a plural, the form of its number.
    std::string_view form() const { return form_; }
    const std::vector<With>& values() const { return values_; }

private:
    std::string_view key_, form_;
    std::vector<With> values_;
};

/// Text that is the same in all languages, or a sentence.
using SentenceValue = std::variant<std::string, Sentence>;

/// The value of the placeholder {name}.
struct With {
    std::string_view name;
    SentenceValue value;
};
template <class Value>
With with(std::string_view name, const Value& value) {
    if constexpr (std::is_same_v<Value, Sentence> || std::is_same_v<Value, SentenceValue>) {
        return {name, value};
    } else {
        return {name, fmt::to_string(value)};
    }
}

template <class... Values>
Sentence Sentence::plural(int64_t n, Literal one, Literal many, Values... values) {
    Sentence sentence(one, with("n", format_count(n)), std::move(values)...);
    sentence.form_ = n == 1 ? one.text : many.text;
    return sentence;
}

/// Replaces each {name} in `text` by its value, made visible (visible_text()); other braces stay. `translate` turns
/// values that are sentences into text. A space separates a Latin word of a value from a Chinese character of `text`.
std::string filled(std::string_view text, std::span<const With> values,
                   const std::function<std::string(const Sentence&)>& translate);

}  // namespace tidemark
