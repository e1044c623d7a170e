// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

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

Language language_of_locale() {
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        if (const char* value = std::getenv(name); value != nullptr && *value != '\0') {
            return language_from_name(value).value_or(Language::english);
        }
    }
    return Language::english;
}

std::string_view language_name(Language language) { return language == Language::chinese ? "zh_CN" : "en"; }

std::string Words::translate(const Sentence& sentence) const {
    return with_values(translated(sentence.key(), sentence.form()), sentence.values());
}

std::string_view Words::translated(std::string_view key, std::string_view form) const {
    const Catalog* catalog = catalog_of(language_);
    // Chinese has one form for all numbers. A test compares this with the header of the catalog.
    return catalog == nullptr ? form : catalog->find(key).value_or(form);
}

std::string Words::with_values(std::string_view text, std::span<const With> values) const {
    return filled(text, values, [this](const Sentence& sentence) { return translate(sentence); });
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
