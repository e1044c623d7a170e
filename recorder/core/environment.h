// What the environment of a process asks for: SESSIONS.md.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace tidemark::recorder {

/// The value of a variable; empty when it is not set.
inline std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

/// TIDEMARK_RECORD: this process shall record itself.
inline bool recording_is_asked_for() { return environment("TIDEMARK_RECORD") == "1"; }

/// TIDEMARK_WITH: a list of parts, which may be empty; without it everything.
inline bool part_is_asked_for(std::string_view part) {
    const char* list = std::getenv("TIDEMARK_WITH");
    return list == nullptr || ("," + std::string(list) + ",").find("," + std::string(part) + ",") != std::string::npos;
}

}  // namespace tidemark::recorder
