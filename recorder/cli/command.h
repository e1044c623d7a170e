// The commands. Each adds itself to the command line; the one the user chose leaves its work in `job`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "storage/base/progress.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// Runs after the whole command line was understood. Its error is shown once, by main.
using Job = std::function<Status(Progress&)>;

void add_import_command(CLI::App& app, Job& job);
void add_info_command(CLI::App& app, Job& job);
void add_stats_command(CLI::App& app, Job& job);
void add_breakdown_command(CLI::App& app, Job& job);
void add_explain_command(CLI::App& app, Job& job);
/// The job leaves its exit status in `exit_code`: exit_limit when one does not hold.
void add_check_command(CLI::App& app, Job& job, int& exit_code);
void add_diff_command(CLI::App& app, Job& job);
void add_top_command(CLI::App& app, Job& job);
void add_graph_command(CLI::App& app, Job& job);
void add_referrers_command(CLI::App& app, Job& job);
void add_render_command(CLI::App& app, Job& job);
void add_share_command(CLI::App& app, Job& job);
/// The job leaves its exit status in `exit_code`: that of the program it ran.
void add_record_command(CLI::App& app, Job& job, int& exit_code);

/// A command whose help says what it does in a line, in detail (lines broken by hand, may be empty), by example, and
/// what its exit statuses mean.
CLI::App& add_command(CLI::App& app, const char* name, const char* summary, const char* details, const char* examples);

}  // namespace tidemark::cli
