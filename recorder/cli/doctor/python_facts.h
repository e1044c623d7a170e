// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the Python of a command has for recordings.
#pragma once

#include <map>
#include <string>

#include "recorder/cli/program.h"
#include "recorder/cli/record/recorder_home.h"

namespace tidemark::cli {

/// Returns the Python in the first line of a script: "#!/usr/bin/python3", "#!/usr/bin/env python3" of torchrun. Empty
/// if another program runs it.
Arguments interpreter_of(const std::string& script);

/// Facts by name: "python" (the version), "executable", "failure" (why there are no others), "instead_of" (the program
/// whose Python is unknown), and those of recorder/python/tidemark/_facts.py.
class PythonFacts {
public:
    explicit PythonFacts(std::map<std::string, std::string> facts) : facts_(std::move(facts)) {}
    bool empty() const { return facts_.empty(); }
    bool has(const char* name) const { return facts_.contains(name); }
    /// Returns "" for a fact that is missing.
    std::string operator[](const char* name) const {
        const auto found = facts_.find(name);
        return found == facts_.end() ? "" : found->second;
    }

private:
    std::map<std::string, std::string> facts_;
};

/// Asks the Python of a command, or the first Python of PATH if there is no command, or it names no Python. No facts:
/// there is no Python. `with_trial`: also tries the plugin, which takes some 10 s, and a minute if it must be compiled.
PythonFacts ask_python(const Arguments& command, const RecorderHome& home, bool with_trial);

}  // namespace tidemark::cli
