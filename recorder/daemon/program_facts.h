// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the recorder knows of the program from /proc, read at its own start: the program may end before it uses the GPU.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tidemark::recorder {

struct ProgramFacts {
    std::vector<pid_t> ancestry;      ///< the program, its parent, and so on
    std::string command_line;         ///< the arguments, joined by spaces
    bool runs_python = false;         ///< its executable is an interpreter of Python
    std::string option_against_hook;  ///< see python_options.h; empty: none
};

ProgramFacts read_program_facts(pid_t program);
/// Returns the arguments of a process now, joined by spaces; "" if it has ended.
std::string command_line_of(pid_t process);

/// How far the Python package got in the program before it used the GPU.
struct PythonProgress {
    bool hook_ran = false, torch_imported = false, cuda_initialized = false;
};

}  // namespace tidemark::recorder
