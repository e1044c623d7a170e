// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/sentence.h"

#include <algorithm>

#include "storage/base/utf8.h"

namespace tidemark {

std::string Sentence::english() const {
    return filled(form_, values_, [](const Sentence& sentence) { return sentence.english(); });
}

std::string filled(std::string_view text, std::span<const With> values,
                   const std::function<std::string(const Sentence&)>& translate) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const size_t open = text.find('{', at), close = text.find('}', open);
        if (close == std::string_view::npos) {
            return result.append(text.substr(at));
        }
        const std::string_view name = text.substr(open + 1, close - open - 1);
        const auto found =
            std::find_if(values.begin(), values.end(), [&](const With& value) { return value.name == name; });
        result.append(text.substr(at, open - at));
        if (found == values.end()) {
            result.append(text.substr(open, close + 1 - open));
        } else if (const auto* sentence = std::get_if<Sentence>(&found->value)) {
            result.append(translate(*sentence));
        } else {
            result.append(visible_text(std::get<std::string>(found->value)));
        }
        at = close + 1;
    }
    return result;
}

}  // namespace tidemark
