// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark mcp: answers the questions of agents about traces.
#include <unistd.h>

#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/mcp/line_reader.h"
#include "recorder/cli/mcp/mcp_server.h"
#include "recorder/cli/output.h"

namespace tidemark::cli {
namespace {

constexpr size_t longest_line = size_t{1} << 20;

struct McpOptions {
    std::vector<std::string> traces, roots;
    McpLimits limits;
};

Status run_mcp(const McpOptions& options, const Words& words, const Progress& progress) {
    if (options.traces.empty() && options.roots.empty()) {
        return usage_error("Name the traces that agents may read, or a folder of them with --root.");
    }
    auto files = McpFiles::of(options.traces, options.roots);
    if (!files) {
        return files.error();
    }
    const McpServer server(*std::move(files), options.limits, words);
    LineReader reader(STDIN_FILENO, longest_line);
    std::string line;
    for (;;) {
        switch (reader.next(line, progress)) {
            case LineReader::Outcome::end: return {};
            case LineReader::Outcome::too_long:
                TIDEMARK_TRY(print_clean(McpServer::refuse_long_line(longest_line) + '\n'));
                break;
            case LineReader::Outcome::line:
                if (const auto answer = line.empty() ? std::nullopt : server.answer(line)) {
                    TIDEMARK_TRY(print_clean(*answer + '\n'));
                }
                break;
        }
    }
}

}  // namespace

void add_mcp_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<McpOptions>();
    CLI::App& command = add_command(
        line, "mcp",
        {words("Let agents ask about traces: a server of the Model Context Protocol on stdin and stdout"),
         words("The tools are explain, finding, top, breakdown, diff, source, graph, referrers, query and others, as\n"
               "the commands of these names. They change nothing, and read only the traces that are named here or\n"
               "are below a --root. An agent's program starts this command; docs/INTEGRATIONS.md shows how."),
         "  tidemark mcp --root ~/traces\n"
         "  tidemark mcp before.tide after.tide"});
    command.add_option("TRACE", options->traces, words("Traces (.tide) and folders of jobs that agents may read"));
    command
        .add_option("--root", options->roots, words("A folder below which agents may read all traces; may be repeated"))
        ->allow_extra_args(false);
    command
        .add_option("--max-bytes", options->limits.bytes,
                    words("Size above which a result is cut; the result says what is left out"))
        ->check(within(1000, 1e7, words))
        ->capture_default_str();
    command.add_option("--timeout", options->limits.seconds, words("Seconds after which a call is ended"))
        ->check(within(1, 86400, words))
        ->capture_default_str();
    set_work(line, command, [options, words](Progress& progress) { return run_mcp(*options, words, progress); });
}

}  // namespace tidemark::cli
