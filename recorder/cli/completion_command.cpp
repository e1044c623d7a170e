// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark completion: the script with which a shell completes the command line.
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/completion.h"
#include "recorder/cli/output.h"

namespace tidemark::cli {

void add_completion_command(CommandLine& line) {
    const Words& words = line.words;
    auto shell = std::make_shared<std::string>();
    CLI::App& command = add_command(
        line, "completion",
        {words("Print the script with which a shell completes the commands and options of tidemark"),
         words("The packages install it for bash, zsh and fish. After an installation with pip, load it in\n"
               "the start file of the shell."),
         "  eval \"$(tidemark completion bash)\"                  # in ~/.bashrc\n"
         "  eval \"$(tidemark completion zsh)\"                   # in ~/.zshrc, after compinit\n"
         "  tidemark completion fish | source                   # in ~/.config/fish/config.fish"});
    command.add_option("SHELL", *shell, words("bash, zsh or fish"))
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
    set_work(line, command, [shell, &app = line.app](Progress&) {
        const std::vector<CompletedCommand> commands = completed_commands(app);
        return print_clean(*shell == "bash"  ? bash_completion(commands)
                           : *shell == "zsh" ? zsh_completion(commands)
                                             : fish_completion(commands));
    });
}

}  // namespace tidemark::cli
