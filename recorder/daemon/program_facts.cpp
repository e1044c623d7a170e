// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/program_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "recorder/core/python_options.h"
#include "storage/base/utf8.h"

namespace tidemark::recorder {
namespace {

constexpr size_t most_ancestors = 32;

std::vector<std::string> arguments_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string word; std::getline(file, word, '\0');) {
        arguments.push_back(word);
    }
    return arguments;
}

/// Returns the parent of a process; 0 if it is not known.
pid_t parent_of(pid_t pid) {
    constexpr std::string_view key = "PPid:";
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            return static_cast<pid_t>(std::atol(line.c_str() + key.size()));
        }
    }
    return 0;
}

std::string joined(const std::vector<std::string>& arguments) {
    return valid_utf8(fmt::format("{}", fmt::join(arguments, " ")));
}

}  // namespace

std::string command_line_of(pid_t process) {
    std::string line = joined(arguments_of(process));
    line.erase(line.find_last_not_of(' ') + 1);  // setproctitle fills the rest with zeros, also before a recording
    return line;
}

ProgramFacts read_program_facts(pid_t program) {
    std::error_code error;
    const std::string path = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", program), error).string();
    ProgramFacts facts;
    for (pid_t pid = program; pid > 1 && facts.ancestry.size() < most_ancestors; pid = parent_of(pid)) {
        facts.ancestry.push_back(pid);
    }
    facts.command_line = command_line_of(program);
    facts.runs_python = is_python(path);
    facts.option_against_hook = facts.runs_python ? option_against_hook(arguments_of(program)) : "";
    return facts;
}

}  // namespace tidemark::recorder
