// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a recording needs here, what is missing, and the command that mends it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recorder/cli/doctor/python_facts.h"
#include "recorder/cli/doctor/surroundings.h"
#include "recorder/cli/record/recorder_home.h"
#include "storage/text/words.h"

namespace tidemark::cli {

enum class Need : uint8_t {
    necessary,  ///< nothing is recorded without it
    wanted,     ///< a part of the recording lacks without it
    optional,   ///< for other commands
};

struct ExaminedPart {
    const char* name;   ///< for JSON
    std::string title;  ///< for text
    Need need = Need::wanted;
    bool is_fine = false;
    std::string text;  ///< the result
    std::string fix;   ///< empty if fine
};

/// Examines the recorder and the GPU's driver.
std::vector<ExaminedPart> examine_recorder(const RecorderHome& home, const Surroundings& surroundings,
                                           const Words& words);
/// Examines the program's Python, its PyTorch, the recorder's plugin for it, and CUPTI.
std::vector<ExaminedPart> examine_python(const PythonFacts& facts, const RecorderHome& home,
                                         const Surroundings& surroundings, const Words& words);
/// Examines the kernel, the folders, and what the window and `tidemark attach` need. `output`: the trace to write.
std::vector<ExaminedPart> examine_machine(const std::string& output, const Surroundings& surroundings,
                                          const Words& words);

}  // namespace tidemark::cli
