// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark record --check: which parts can be recorded here, and how to fix the others.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "recorder/cli/program.h"
#include "recorder/cli/recorder_home.h"

namespace tidemark::cli {

struct CheckedPart {
    const char* name;   ///< for JSON
    std::string title;  ///< for text
    bool fine = false;
    std::string text;  ///< the result
    std::string fix;   ///< empty if fine
};

struct RecordCheck {
    RecorderHome home;
    std::vector<CheckedPart> parts;

    const CheckedPart& part(std::string_view name) const;
    /// "yes", "partly" or "no".
    const char* works() const;
};

/// Returns the Python in the first line of a script: "#!/usr/bin/python3", "#!/usr/bin/env python3" of torchrun. Empty
/// if another program runs it.
Arguments interpreter_of(const std::string& script);

/// Checks this machine and the Python of the command; without a command, the first Python of PATH.
RecordCheck check_recording(const Arguments& command, const Words& words);

std::string check_text(const RecordCheck& check, const Words& words);
nlohmann::ordered_json check_json(const RecordCheck& check);

}  // namespace tidemark::cli
