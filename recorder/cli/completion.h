// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Scripts with which shells complete the command line, made from the commands and options themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tidemark::cli {

struct CompletedOption {
    std::vector<std::string> names;  ///< "-o", "--output"
    std::string description;         ///< one line
    bool has_value = false;
    std::vector<std::string> values;  ///< empty: any value; files are offered
};

struct CompletedCommand {
    std::string name, description;
    std::vector<CompletedOption> options;
    std::vector<std::string> values;  ///< of the positional argument; empty: files are offered
    bool runs_program = false;        ///< a program and its arguments follow after --
};

/// Returns the commands in their order, and first, without a name, the options before a command.
std::vector<CompletedCommand> completed_commands(const CLI::App& app);

std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace tidemark::cli
