// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/command_line.h"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

#include "recorder/cli/command.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/memory_limit.h"
#include "recorder/cli/output.h"
#include "recorder/cli/parse_errors.h"
#include "storage/base/exit_status.h"
#include "storage/format/schema.h"

namespace tidemark::cli {
namespace {

Progress progress;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler may only set a lock-free flag");

/// Lets the first Ctrl-C cancel the work cleanly. A second one kills the process.
void cancel_on_signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { progress.canceled = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    // print() handles a closed pipe.
    std::signal(SIGPIPE, SIG_IGN);
}

std::string exit_status_help(const Words& words) {
    return words(
        "Exit status: 0 success, 2 wrong usage, 3 unusable input file, 4 environment error (missing file,\n"
        "permission, full disk, no viewer), 5 a limit of `tidemark check` does not hold, 130 canceled.");
}

/// All commands with their options, in the language of `words`.
struct CommandParser {
    explicit CommandParser(const Words& words);

    /// Returns the language of --language; nothing without the option.
    std::optional<Language> language() const {
        return language_option->results().empty() ? std::nullopt
                                                  : language_from_name(language_option->results().back());
    }

    Work work;
    int exit_code = exit_success;
    std::string language_name;
    CLI::App app;
    CLI::Option* language_option = nullptr;
};

CommandParser::CommandParser(const Words& words)
    : app(words("Records PyTorch programs and explains why their GPU memory goes up and never comes back down."),
          "tidemark") {
    app.get_formatter()->label("Usage", words("Usage"));
    app.get_formatter()->label("OPTIONS", words("OPTIONS"));
    app.get_formatter()->label("SUBCOMMAND", words("COMMAND"));
    app.get_formatter()->label("Positionals", words("Arguments"));
    app.get_formatter()->label("REQUIRED", words("REQUIRED"));
    app.option_defaults()->group(words("Options"));
    app.set_help_flag("-h,--help", words("Print this help and exit"));
    app.set_version_flag("--version",
                         fmt::format("tidemark {} (trace format {})", TIDEMARK_VERSION, trace_format_version),
                         words("Print the version and exit"));
    language_option =
        app.add_option("--language", language_name, words("Language: en or zh_CN (default: that of the locale)"))
            ->check(CLI::IsMember({"en", "zh_CN"}));
    app.footer(fmt::format("{}\n  tidemark import run.pickle && tidemark top run.tide --at peak\n\n{}",
                           words("Example:"), exit_status_help(words)));
    app.require_subcommand(1);
    CommandLine line{app, words, work, exit_code};
    add_record_command(line);
    add_doctor_command(line);
    add_attach_command(line);
    add_ps_command(line);
    add_live_command(line);
    add_steer_commands(line);
    add_import_command(line);
    add_explain_command(line);
    add_check_command(line);
    add_diff_command(line);
    add_info_command(line);
    add_stats_command(line);
    add_top_command(line);
    add_source_command(line);
    add_histogram_command(line);
    add_graph_command(line);
    add_referrers_command(line);
    add_query_command(line);
    add_breakdown_command(line);
    add_whatif_command(line);
    add_render_command(line);
    add_share_command(line);
    add_collect_command(line);
    add_export_command(line);
    add_completion_command(line);
    add_metrics_command(line);
    add_mcp_command(line);
}

/// Returns the words in the selected language. Parses the command line once for --language, since all texts depend on
/// it.
Words words_for(int argc, char** argv) {
    CommandParser parser{Words(Language::english)};
    try {
        parser.app.parse(argc, argv);
    } catch (const CLI::Error&) {
        // The second parsing prints help and errors in the selected language.
    }
    return Words(parser.language().value_or(language_of_locale()));
}

/// Returns the exit status: 4 if the disk is full.
int print_help(const CLI::App& app, const CLI::Success& help, const Words& words) {
    std::ostringstream text;
    app.exit(help, text, text);
    if (const Status printed = print_clean(text.str()); !printed) {
        print_error(printed.error(), words);
        return exit_status(printed.error().kind);
    }
    return exit_success;
}

SentenceValue problem_sentence(const CLI::App& app, const CLI::ParseError& wrong) {
    const std::vector<std::string> words = app.remaining();
    if (!app.get_subcommands().empty() || words.empty() || words.front().starts_with('-')) {
        return parse_error_sentence(wrong.what());
    }
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) {
        commands.push_back(command->get_name());
    }
    return unknown_command_sentence(words.front(), commands);
}

int run(int argc, char** argv) {
    const Words words = words_for(argc, argv);
    CommandParser parser(words);
    try {
        parser.app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return print_help(parser.app, help, words);
    } catch (const CLI::ParseError& wrong) {
        print_error(usage_error("{problem}\nRun with --help for more information.",
                                with("problem", problem_sentence(parser.app, wrong))),
                    words);
        return exit_usage;
    }
    cancel_on_signals();
    if (const Status status = parser.work(progress); !status) {
        print_error(status.error(), words);
        return exit_status(status.error().kind);
    }
    return parser.exit_code;
}

int report_out_of_memory() {
    const Error error = out_of_memory_error();
    print_error(error, Words(language_of_locale()));
    return exit_status(error.kind);
}

/// Ends the process if memory runs out where no exception may leave: the destructor of a JSON value allocates.
[[noreturn]] void end_without_memory() {
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
        const int status = report_out_of_memory();
        std::fflush(nullptr);
        _exit(status);
    } catch (...) {
        std::abort();
    }
}

}  // namespace

int run_command_line(int argc, char** argv) {
    std::set_terminate(end_without_memory);
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return report_out_of_memory();
    }
}

CLI::App& add_command(CommandLine& line, const char* name, const CommandHelp& help) {
    CLI::App* command = line.app.add_subcommand(name, help.summary);
    command->group(line.words("Commands"));
    command->set_help_flag("-h,--help", line.words("Print this help and exit"));
    command->footer(fmt::format("{}{}{}\n{}\n\n{}", help.details, help.details.empty() ? "" : "\n\n",
                                line.words("Example:"), help.examples, exit_status_help(line.words)));
    command->fallthrough();
    return *command;
}

void set_work(CommandLine& line, CLI::App& command, Work work) {
    command.callback([&selected = line.work, work = std::move(work)] { selected = work; });
}

void add_trace_option(CommandLine& line, CLI::App& command, std::string& trace) {
    find_rank(line, command.add_option("TRACE", trace, line.words("A trace (.tide), or that of a rank: run.tidejob:3"))
                        ->required());
}

void mention_jobs(CommandLine& line, CLI::App& command) {
    command.get_option("TRACE")->description(
        line.words("A trace (.tide), that of a rank (run.tidejob:3), or the folder of a job"));
}

void find_rank(CommandLine& line, CLI::Option* option) {
    option->transform(CLI::Validator(
        [words = line.words](std::string& text) {
            if (text.empty()) {
                return words("The name of the trace is empty.");
            }
            auto trace = trace_of_rank(text);
            if (!trace) {
                return words.translate(trace.error().sentence);
            }
            text = *std::move(trace);
            return std::string();
        },
        ""));
}

void add_format_option(CLI::App& command, const std::string& description, std::string& format,
                       std::initializer_list<std::string> formats) {
    command.add_option("--format", format, description)
        ->check(CLI::IsMember(std::vector<std::string>(formats)))
        ->capture_default_str();
}

std::function<std::string(const std::string&)> within(double least, double most, const Words& words) {
    return [least, most, words](const std::string& text) {
        double number = 0;
        const bool is_within = CLI::detail::lexical_cast(text, number) && least <= number && number <= most;
        return is_within ? std::string()
                         : words("{text} is not a number from {least} to {most}.", with("text", text),
                                 with("least", fmt::format("{}", least)), with("most", fmt::format("{:.0f}", most)));
    };
}

void add_limit_option(CLI::App& command, const Words& words, const std::string& description, size_t& limit) {
    constexpr double most_rows = 1e9;
    command.add_option("--limit", limit, description)->check(within(0, most_rows, words))->capture_default_str();
}

}  // namespace tidemark::cli
