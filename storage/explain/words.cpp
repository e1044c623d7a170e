#include "storage/explain/words.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/words_zh_cn.h"

namespace tidemark {
namespace {

const std::unordered_map<std::string_view, std::string_view>& chinese() {
    static const auto table = [] {
        std::unordered_map<std::string_view, std::string_view> made;
        for (const Translation& line : chinese_table()) {
            made.emplace(line.english, line.translated);
        }
        return made;
    }();
    return table;
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
    if (language_ == Language::english) {
        return english;
    }
    const auto found = chinese().find(english);
    return found == chinese().end() ? english : found->second;
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

std::string Words::counted(int64_t n, std::string_view one, std::string_view many) const {
    return (*this)(n == 1 ? one : many, with("n", format_count(n)));
}

std::string Words::list(const std::vector<std::string>& items) const {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) {
            text += i + 1 == items.size() ? (*this)(" and ") : (*this)(", ");
        }
        text += items[i];
    }
    return text;
}

std::string Words::percent(double share) {
    const double percent = share * 100;
    return fmt::format("{:.{}f} %", percent, percent != 0 && std::fabs(percent) < 9.95 ? 1 : 0);
}

}  // namespace tidemark
