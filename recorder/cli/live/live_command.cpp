// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark live: the memory of a running program in the terminal.
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/live/live_trace.h"
#include "recorder/cli/memory_limit.h"
#include "recorder/cli/output.h"
#include "recorder/cli/record/recorded_programs.h"
#include "recorder/cli/terminal.h"
#include "storage/read/follow.h"

namespace tidemark::cli {
namespace {

constexpr auto frame_period = std::chrono::milliseconds(250);

struct LiveOptions {
    std::string trace;
    bool once = false;
};

Status show_once(const LiveTrace& trace, const Words& words, const Progress& progress) {
    if (!trace.wait_for_explanation(progress)) {
        return canceled_error();
    }
    TIDEMARK_TRY(trace.status());
    return print_clean(live_frame(trace.view(), terminal_size(), may_have_colors(), false, words) + '\n');
}

Status show_until_quit(LiveTrace& trace, const Words& words, const Progress& progress) {
    FullScreen screen;
    for (;;) {
        TIDEMARK_TRY(trace.status());
        TIDEMARK_TRY(screen.show(live_frame(trace.view(), terminal_size(), may_have_colors(), true, words)));
        const int key = screen.next_key(frame_period);
        if (key == 'q' || key == 'Q' || key < 0) {
            return {};
        }
        if (key == 'd') {
            trace.show_next_device();
        }
        if (progress.canceled) {
            return canceled_error();
        }
    }
}

Status run_live(const LiveOptions& options, const Words& words, const Progress& progress) {
    const auto path = trace_or_pid(options.trace);
    if (!path) {
        return path.error();
    }
    TIDEMARK_TRY(check_may_be_trace(*path));
    if (!is_being_written(*path)) {
        limit_memory_for(*path);
    }
    const auto trace = LiveTrace::open(*path, words);
    if (!trace) {
        return trace.error();
    }
    return options.once || !is_terminal() ? show_once(**trace, words, progress)
                                          : show_until_quit(**trace, words, progress);
}

}  // namespace

void add_live_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<LiveOptions>();
    CLI::App& command = add_command(
        line, "live",
        {words("Show the memory of a running program in the terminal"),
         words("Shows the lines that have most memory, their growth per training step, the memory breakdown, the\n"
               "findings of `tidemark explain` and what the recording costs. q quits. Without a terminal, prints one\n"
               "frame."),
         "  tidemark live 4711\n"
         "  tidemark live run.tide --once"});
    command.add_option("TRACE", options->trace, words("A trace (.tide), or the process id of a recorded program"))
        ->required();
    command.add_flag("--once", options->once, words("Print one frame as text and exit"));
    set_work(line, command, [options, words](Progress& progress) { return run_live(*options, words, progress); });
}

}  // namespace tidemark::cli
