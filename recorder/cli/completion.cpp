// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace tidemark::cli {
namespace {

/// Returns the words of "TEXT:{text,json}".
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const size_t begin = type.find('{'), end = type.find('}', std::min(begin, type.size()));
    std::vector<std::string> values;
    if (end != type.npos) {
        std::istringstream list(type.substr(begin + 1, end - begin - 1));
        for (std::string value; std::getline(list, value, ',');) {
            values.push_back(value);
        }
    }
    return values;
}

CompletedOption completed(const CLI::Option& option) {
    CompletedOption result{{}, option.get_description(), option.get_items_expected_max() > 0, values_of(option)};
    for (const std::string& name : option.get_snames()) {
        result.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        result.names.push_back("--" + name);
    }
    return result;
}

CompletedCommand completed(const CLI::App& app) {
    CompletedCommand command{app.get_name(), app.get_description(), {}, {}, false};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) {
            continue;  // for other programs
        }
        if (option->get_positional()) {
            command.values = values_of(*option);
            command.runs_program |= option->get_name(true) == "COMMAND";
        } else {
            command.options.push_back(completed(*option));
        }
    }
    return command;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// Returns the text in single quotes, as bash and zsh read it.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return result + "'";
}

/// Returns all names of the options of a command.
std::vector<std::string> names_of(const CompletedCommand& command) {
    std::vector<std::string> names;
    for (const CompletedOption& option : command.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

std::vector<std::string> names_of(const std::vector<CompletedCommand>& commands) {
    std::vector<std::string> names;
    for (const CompletedCommand& command : commands) {
        if (!command.name.empty()) {
            names.push_back(command.name);
        }
    }
    return names;
}

std::vector<std::string> names_of_runners(const std::vector<CompletedCommand>& commands) {
    std::vector<std::string> names;
    for (const CompletedCommand& command : commands) {
        if (command.runs_program) {
            names.push_back(command.name);
        }
    }
    return names;
}

/// Returns the branches of bash's `case "$command $previous"`: the options with a choice of values.
std::string bash_choices(const CompletedCommand& command) {
    std::string text;
    for (const CompletedOption& option : command.options) {
        for (const std::string& name : option.values.empty() ? std::vector<std::string>() : option.names) {
            text +=
                fmt::format("    {}) values={} ;;\n", quoted(command.name + ' ' + name), quoted(joined(option.values)));
        }
    }
    return text;
}

/// Returns the description as zsh's _arguments and _describe read it within brackets and between colons.
std::string zsh_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        result +=
            std::string_view("[]:\\").find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
    }
    return result;
}

std::string zsh_option(const CompletedOption& option) {
    const std::string action = !option.has_value       ? ""
                               : option.values.empty() ? ":value:_files"
                                                       : fmt::format(":value:({})", joined(option.values));
    std::string text;
    for (const std::string& name : option.names) {
        text +=
            ' ' + quoted(fmt::format("({}){}[{}]{}", joined(option.names), name, zsh_text(option.description), action));
    }
    return text;
}

std::string zsh_options(const CompletedCommand& command) {
    std::string text;
    for (const CompletedOption& option : command.options) {
        text += zsh_option(option);
    }
    return text;
}

/// Returns the text in single quotes, as fish reads it.
std::string fish_quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return result + "'";
}

std::string fish_option(const std::string& condition, const CompletedOption& option) {
    std::string text = fmt::format("complete -c tidemark -n {}", fish_quoted(condition));
    for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (option.has_value) {
        text += option.values.empty() ? " -rF" : " -xa " + fish_quoted(joined(option.values));
    }
    return fmt::format("{} -d {}\n", text, fish_quoted(option.description));
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CLI::App& app) {
    std::vector<CompletedCommand> commands{completed(app)};
    commands.front().name.clear();
    for (const CLI::App* command : app.get_subcommands(std::function<bool(const CLI::App*)>())) {
        commands.push_back(completed(*command));
    }
    return commands;
}

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
    std::string choices, options;
    for (const CompletedCommand& command : commands) {
        choices += bash_choices(command);
        options +=
            fmt::format("    {}) options={} values={} ;;\n", quoted(command.name), quoted(joined(names_of(command))),
                        quoted(joined(command.name.empty() ? names_of(commands) : command.values)));
    }
    return fmt::format(R"(# Completes `tidemark` in bash. Written by `tidemark completion bash`.

_tidemark_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}

_tidemark_files() {{
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}

# After --: a program, then its arguments.
_tidemark_program() {{
    if [[ $1 == "$COMP_CWORD" ]]; then mapfile -t COMPREPLY < <(compgen -c -- "$current"); else _tidemark_files; fi
}}

_tidemark() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command= options= values= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${{COMP_WORDS[i]}} in
        {2}) command=${{command:-${{COMP_WORDS[i]}}}} ;;
        --) case $command in {3}) _tidemark_program $((i + 1)); return ;; esac ;;
        esac
    done
    case $command in
{0}    esac
    case "$command $previous" in
{1}    esac
    if [[ $current == -* ]]; then _tidemark_words "$options"
    elif [[ $values ]]; then _tidemark_words "$values"
    else _tidemark_files; fi
}}

complete -F _tidemark tidemark
)",
                       options, choices, fmt::join(names_of(commands), "|"),
                       fmt::join(names_of_runners(commands), "|"));
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
    std::string names, branches;
    for (const CompletedCommand& command : commands) {
        if (!command.name.empty()) {
            names += fmt::format("        {}\n", quoted(command.name + ':' + zsh_text(command.description)));
            const std::string positional = command.values.empty()
                                               ? "'*:file:_files'"
                                               : quoted(fmt::format("*:value:({})", joined(command.values)));
            branches += fmt::format("    {}) _arguments -S{} {} ;;\n", command.name, zsh_options(command), positional);
        }
    }
    return fmt::format(R"(#compdef tidemark
# Completes `tidemark` in zsh. Written by `tidemark completion zsh`.

_tidemark() {{
    local curcontext=$curcontext state line
    local -i dashes=${{words[(i)--]}}
    if (( dashes < CURRENT && ${{words[(I)({3})]}} )); then # a program, then its arguments
        shift $dashes words
        (( CURRENT -= dashes ))
        _normal
        return
    fi
    local -a subcommands
    subcommands=(
{0}    )
    _arguments -C{1} '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe command subcommands ;;
    argument)
    case $words[1] in
{2}    esac ;;
    esac
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tidemark "$@"; else compdef _tidemark tidemark; fi
)",
                       names, zsh_options(commands.front()), branches, fmt::join(names_of_runners(commands), "|"));
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
    std::string text = R"(# Completes `tidemark` in fish. Written by `tidemark completion fish`.

# After --: a program, then its arguments.
function __tidemark_program
    set -l words (commandline -opc) (commandline -ct)
    if set -l at (contains -i -- -- $words)
        complete -C (string join ' ' -- $words[(math $at + 1)..-1])
    end
end

)";
    for (const CompletedCommand& command : commands) {
        const std::string before = "__fish_use_subcommand", inside = "__fish_seen_subcommand_from " + command.name;
        if (!command.name.empty()) {
            text += fmt::format("complete -c tidemark -n {} -fa {} -d {}\n", before, command.name,
                                fish_quoted(command.description));
        }
        if (!command.values.empty()) {
            text += fmt::format("complete -c tidemark -n {} -fa {}\n", fish_quoted(inside),
                                fish_quoted(joined(command.values)));
        }
        if (command.runs_program) {
            text += fmt::format("complete -c tidemark -n {} -xa '(__tidemark_program)'\n",
                                fish_quoted(inside + "; and contains -- -- (commandline -opc)"));
        }
        for (const CompletedOption& option : command.options) {
            text += fish_option(command.name.empty() ? before : inside, option);
        }
    }
    return text;
}

}  // namespace tidemark::cli
