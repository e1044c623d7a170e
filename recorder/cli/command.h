// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The commands of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// The work of a command. Runs after the command line was parsed. main prints its error.
using Work = std::function<Status(Progress&)>;

/// The command line under construction. The selected command sets `work`.
struct CommandLine {
    CLI::App& app;
    const Words words;
    Work& work;
    int& exit_code;  ///< set by the work: exit_limit by check, the program's exit status by record
};

void add_record_command(CommandLine& line);
void add_doctor_command(CommandLine& line);
void add_attach_command(CommandLine& line);
void add_ps_command(CommandLine& line);
void add_live_command(CommandLine& line);
void add_steer_commands(CommandLine& line);  // pause, resume, snapshot
void add_import_command(CommandLine& line);
void add_explain_command(CommandLine& line);
void add_check_command(CommandLine& line);
void add_diff_command(CommandLine& line);
void add_info_command(CommandLine& line);
void add_stats_command(CommandLine& line);
void add_top_command(CommandLine& line);
void add_source_command(CommandLine& line);
void add_histogram_command(CommandLine& line);
void add_graph_command(CommandLine& line);
void add_referrers_command(CommandLine& line);
void add_query_command(CommandLine& line);
void add_breakdown_command(CommandLine& line);
void add_whatif_command(CommandLine& line);
void add_render_command(CommandLine& line);
void add_share_command(CommandLine& line);
void add_collect_command(CommandLine& line);
void add_export_command(CommandLine& line);
void add_completion_command(CommandLine& line);
void add_metrics_command(CommandLine& line);
void add_mcp_command(CommandLine& line);

/// Texts of a command's help, translated. `details` has line breaks and may be empty.
struct CommandHelp {
    std::string summary, details, examples;
};
/// Adds a command. Its help ends with examples and the exit statuses.
CLI::App& add_command(CommandLine& line, const char* name, const CommandHelp& help);
/// Sets the work of the command.
void set_work(CommandLine& line, CLI::App& command, Work work);

/// Adds the positional TRACE.
void add_trace_option(CommandLine& line, CLI::App& command, std::string& trace);
/// Says in the help that TRACE may be the folder of a job.
void mention_jobs(CommandLine& line, CLI::App& command);
/// Lets the option name the trace of a rank: "run.tidejob:3".
void find_rank(CommandLine& line, CLI::Option* option);
/// Adds --format. `formats`: the allowed values.
void add_format_option(CLI::App& command, const std::string& description, std::string& format,
                       std::initializer_list<std::string> formats);
/// Returns a check for CLI11 that a value is a number from `least` to `most`.
std::function<std::string(const std::string&)> within(double least, double most, const Words& words);
/// Adds --limit. The value of `limit` is the default.
void add_limit_option(CLI::App& command, const Words& words, const std::string& description, size_t& limit);

}  // namespace tidemark::cli
