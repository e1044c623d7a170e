// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/options.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace tidemark::recorder {

namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9' || value > 100'000'000) {
            return std::nullopt;
        }
        value = value * 10 + (digit - '0');
    }
    return text.empty() ? std::nullopt : std::optional(value);
}

/// Makes a path absolute: the recorder may outlive the folder it was started in.
std::string absolute(const std::string& path) {
    std::error_code error;
    const auto full = std::filesystem::absolute(path, error);
    return error ? path : full.string();
}

}  // namespace

Result<Options> read_options(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--force") {
            options.force = true;
            continue;
        }
        if (word == "--claim-name") {
            options.claims_name = true;
            continue;
        }
        if (++i == count) {
            return usage_error("The option {option} needs a value.", with("option", word));
        }
        const std::string value = words[i];
        if (word == "--region" && number(value)) {
            options.region_file = *number(value);
        } else if (word == "--pid" && number(value)) {
            options.program = *number(value);
        } else if (word == "--output") {
            options.output = absolute(value);
        } else if (word == "--session") {
            options.session = absolute(value);
        } else {
            return usage_error("The tidemark package starts this program; see SESSIONS.md.");
        }
    }
    if (options.region_file < 0 || options.program <= 0 || options.output.empty()) {
        return usage_error("The tidemark package starts this program; see SESSIONS.md.");
    }
    return options;
}

}  // namespace tidemark::recorder
