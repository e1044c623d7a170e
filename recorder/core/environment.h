// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the environment variables of a recorded process: SESSIONS.md.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace tidemark::recorder {

/// Returns the value of a variable; empty when it is not set.
inline std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

/// Returns whether TIDEMARK_WITH lists the part. Without the variable, all parts are recorded.
inline bool part_is_requested(std::string_view part) {
    const char* list = std::getenv("TIDEMARK_WITH");
    return list == nullptr || ("," + std::string(list) + ",").find("," + std::string(part) + ",") != std::string::npos;
}

}  // namespace tidemark::recorder
