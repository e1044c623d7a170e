// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/shell_word.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tidemark {

std::string shell_word(const std::string& text) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-/+,=:@%", c);
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace tidemark
