// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the options of a Python interpreter in a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::recorder {

/// Returns whether a path names a Python interpreter: "python3.12", "/usr/bin/python".
inline bool is_python(std::string_view program) { return program.substr(program.rfind('/') + 1).starts_with("python"); }

/// Returns the option by which Python ignores the recorder's startup hook: "-I" (isolated), "-E" (ignores PYTHONPATH),
/// "-S" (no site module, so no sitecustomize); empty if there is none. `arguments`: of the interpreter, itself first.
inline std::string option_against_hook(const std::vector<std::string>& arguments) {
    for (size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word.size() < 2 || word.front() != '-') {
            return {};  // the script
        }
        if (word.starts_with("--")) {
            continue;
        }
        for (size_t at = 1; at < word.size(); ++at) {
            const char letter = word[at];
            if (letter == 'I' || letter == 'E' || letter == 'S') {
                return std::string("-") + letter;
            }
            if (letter == 'c' || letter == 'm') {
                return {};  // the rest belongs to the program
            }
            if (letter == 'W' || letter == 'X') {
                i += at + 1 == word.size() ? 1 : 0;  // its value is the rest of this word, or the next one
                break;
            }
        }
    }
    return {};
}

}  // namespace tidemark::recorder
