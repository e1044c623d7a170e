// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/words.h"

#include <algorithm>
#include <cmath>

#include "storage/text/catalog.h"
#include "storage/text/embedded_catalogs.h"

namespace tidemark {
namespace {

/// Returns nullptr for English, which needs no translation.
const Catalog* catalog_of(Language language) {
    static const std::optional<Catalog> chinese = Catalog::read(zh_cn_catalog());
    return language == Language::chinese && chinese ? &*chinese : nullptr;
}

}  // namespace

std::optional<Language> language_from_name(std::string_view name) {
    const std::string_view language = name.substr(0, name.find_first_of("_-.@"));
    if (language == "zh") {
        return Language::chinese;
    }
    const bool is_name = !language.empty() && std::all_of(language.begin(), language.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    return is_name ? std::optional(Language::english) : std::nullopt;
}

std::string_view language_name(Language language) { return language == Language::chinese ? "zh_CN" : "en"; }

std::string_view Words::translated(std::string_view english) const {
    const Catalog* catalog = catalog_of(language_);
    return catalog == nullptr ? english : catalog->find(english).value_or(english);
}

std::string_view Words::translated_plural(int64_t n, std::string_view one, std::string_view many) const {
    const std::string_view english = n == 1 ? one : many;
    const Catalog* catalog = catalog_of(language_);
    // Chinese has one form for all numbers. A test compares this with the header of the catalog.
    return catalog == nullptr ? english : catalog->find(one).value_or(english);
}

std::string Words::filled(std::string_view text, std::initializer_list<With> values) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const size_t open = text.find('{', at), close = text.find('}', open);
        if (close == std::string_view::npos) {
            return result.append(text.substr(at));
        }
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto* found =
            std::find_if(values.begin(), values.end(), [&](const With& value) { return value.name == name; });
        result.append(text.substr(at, open - at));
        result.append(found == values.end() ? text.substr(open, close + 1 - open) : std::string_view(found->value));
        at = close + 1;
    }
    return result;
}

std::string Words::list(const std::vector<std::string>& items) const {
    const Words& words = *this;
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) {
            text += i + 1 == items.size() ? words(" and ") : words(", ");
        }
        text += items[i];
    }
    return text;
}

std::string Words::sentences(const std::vector<std::string>& sentences) const {
    const Words& words = *this;
    std::string text;
    for (const std::string& sentence : sentences) {
        text = text.empty() || sentence.empty()
                   ? text + sentence
                   : words("{sentence} {next}", with("sentence", text), with("next", sentence));
    }
    return text;
}

std::string Words::percent(double share) {
    const double percent = share * 100;
    return fmt::format("{:.{}f} %", percent, percent != 0 && std::fabs(percent) < 9.95 ? 1 : 0);
}

}  // namespace tidemark
