// Sentences in the reader's language. Code says what it means in English, translations are looked up by it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

enum class Language : uint8_t { english, chinese };
/// "en", "zh_CN" and what locales are called: "zh_CN.UTF-8", "de_DE" (English). Nothing for what is no such name.
std::optional<Language> language_from_name(std::string_view name);
/// "en", "zh_CN"
std::string_view language_name(Language language);

/// What stands for {name} in a sentence.
struct With {
    std::string_view name;
    std::string value;
};
template <class Value>
With with(std::string_view name, const Value& value) {
    return {name, fmt::to_string(value)};
}

/// Used as: words("{tensors} tensors are held by {holder}.", with("tensors", ...), with("holder", ...)). The English
/// text must be a literal, so that tests find it: each has a line in words_zh_cn.cpp with the same {names}. Immutable,
/// thread: any.
class Words {
public:
    explicit Words(Language language) : language_(language) {}
    Language language() const { return language_; }

    template <class... Values>
    std::string operator()(std::string_view english, const Values&... values) const {
        return filled(translated(english), {values...});
    }
    /// The first text for 1, the second for any other number; {n} is the number with separators.
    std::string counted(int64_t n, std::string_view one, std::string_view many) const;
    /// "a, b and c"
    std::string list(const std::vector<std::string>& items) const;
    /// "12.3 %"
    static std::string percent(double share);

private:
    std::string_view translated(std::string_view english) const;
    /// Puts values in the place of their {names}; other braces stay as they are.
    static std::string filled(std::string_view text, std::initializer_list<With> values);

    Language language_;
};

}  // namespace tidemark
