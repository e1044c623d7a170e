// tidemark: everything the window knows, as text and JSON, on a machine without a display.
#include <fmt/format.h>

#include <atomic>
#include <csignal>

#include "recorder/cli/command.h"
#include "recorder/cli/exit_status.h"
#include "recorder/cli/output.h"
#include "storage/format/schema.h"

namespace tidemark::cli {

CLI::App& add_command(CLI::App& app, const char* name, const char* summary, const char* details, const char* examples) {
    CLI::App* command = app.add_subcommand(name, summary);
    command->footer(
        fmt::format("{}{}Example:\n{}\n\n{}", details, *details == '\0' ? "" : "\n\n", examples, exit_status_help));
    return *command;
}

namespace {

Progress progress;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler may only set a lock-free flag");

/// The first Ctrl-C lets the work end cleanly; a second one kills.
void cancel_on_signals() {
    struct sigaction action {};
    action.sa_handler = [](int) { progress.canceled = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    // print() answers a closed pipe itself.
    std::signal(SIGPIPE, SIG_IGN);
}

void describe(CLI::App& app) {
    app.set_version_flag("--version",
                         fmt::format("tidemark {} (trace format {})", TIDEMARK_VERSION, trace_format_version));
    app.footer(fmt::format("Example:\n  tidemark import run.pickle && tidemark top run.tide --at peak\n\n{}",
                           exit_status_help));
    app.require_subcommand(1);
}

int run(int argc, char** argv) {
    CLI::App app("Explains why GPU memory goes up and never comes back down.", "tidemark");
    Job job;
    int exit_code = exit_fine;
    describe(app);
    add_record_command(app, job, exit_code);
    add_import_command(app, job);
    add_explain_command(app, job);
    add_check_command(app, job, exit_code);
    add_diff_command(app, job);
    add_info_command(app, job);
    add_stats_command(app, job);
    add_top_command(app, job);
    add_graph_command(app, job);
    add_referrers_command(app, job);
    add_breakdown_command(app, job);
    add_render_command(app, job);
    add_share_command(app, job);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {
        return app.exit(help);
    } catch (const CLI::ParseError& wrong) {
        print_error(usage_error(fmt::format("{}\nRun with --help for more information.", wrong.what())));
        return exit_usage;
    }
    cancel_on_signals();
    if (const Status status = job(progress); !status) {
        print_error(status.error());
        return exit_status(status.error().kind);
    }
    return exit_code;
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
    try {
        return tidemark::cli::run(argc, argv);
    } catch (const std::bad_alloc&) {
        tidemark::cli::print_error(tidemark::environment_error("There is not enough memory for this."));
        return tidemark::cli::exit_environment;
    }
}
