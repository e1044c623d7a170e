// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark render: lets the viewer draw a picture of a view, without a display.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/viewer.h"
#include "storage/base/parse_number.h"
#include "storage/base/regular_file.h"
#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

const std::vector<std::string> panes{"segments", "graph",  "table",  "histograms", "summary", "changes", "calltree",
                                     "treemap",  "source", "whatif", "breakdown",  "sql",     "notes"};
/// As gui/app/render.cpp has them; tests/hostile compares.
const std::vector<std::string> views{"why",    "overview",   "timeline",  "allocations", "segments",
                                     "graph",  "table",      "summary",   "calltree",    "treemap",
                                     "source", "histograms", "breakdown", "details",     "window"};

struct RenderOptions {
    std::string trace, output;
    std::string view = "window", at = "peak", size = "1600x900", theme = "light", stack_by, pane;
    std::optional<int> device;
    bool force = false;
};

std::string check_size(const std::string& text, const Words& words) {
    const size_t cross = text.find('x');
    for (const std::string& part : {text.substr(0, cross), cross == text.npos ? "" : text.substr(cross + 1)}) {
        const auto pixels = parse_number<int>(part);
        if (!pixels || *pixels < 100 || *pixels > 16384) {
            return words("\"{text}\" is not a size; use WIDTHxHEIGHT in pixels, such as 1600x900.", with("text", text));
        }
    }
    return {};
}

std::string check_picture_name(const std::string& name, const Words& words) {
    return name.ends_with(".png") || name.ends_with(".svg")
               ? std::string{}
               : words("\"{name}\" is not the name of a picture; it must end in .png or .svg.", with("name", name));
}

Status check_trace(const std::string& path) {
    TIDEMARK_TRY(check_may_be_trace(path));
    const auto file = open_regular_file(path);
    if (!file) {
        return file.error();
    }
    return file_kind(path) == FileKind::trace
               ? Status()
               : Status(input_error("{path}: this is not a Tidemark trace (a trace is an SQLite file ending in .tide).",
                                    with("path", path)));
}

std::vector<std::string> viewer_arguments(const RenderOptions& options, Language language) {
    std::vector<std::string> arguments{viewer,
                                       "--render",
                                       options.view,
                                       "--at",
                                       options.at,
                                       "--size",
                                       options.size,
                                       "--theme",
                                       options.theme,
                                       "-o",
                                       options.output,
                                       "--language",
                                       std::string(language_name(language))};
    if (options.device) {
        arguments.insert(arguments.end(), {"--device", std::to_string(*options.device)});
    }
    if (!options.stack_by.empty()) {
        arguments.insert(arguments.end(), {"--stack-by", options.stack_by});
    }
    if (!options.pane.empty()) {
        arguments.insert(arguments.end(), {"--pane", options.pane});
    }
    arguments.push_back(options.trace);
    return arguments;
}

/// Replaces this process by the viewer, which then reports errors and the exit status.
Status run_render(const RenderOptions& options, const Words& words) {
    TIDEMARK_TRY(check_trace(options.trace));
    TIDEMARK_TRY(may_write_report(options.output, options.force));
    const std::string program = find_viewer();
    if (program.empty()) {
        return environment_error(
            "The viewer, tidemark-gui, draws the pictures and is not installed here. It belongs to the package "
            "tidemark-viewer; install it, or run this on a machine that has it.");
    }
    std::vector<std::string> arguments = viewer_arguments(options, words.language());
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    return environment_error("{program} could not be started: {reason}.", with("program", program),
                             with("reason", system_reason(errno)));
}

}  // namespace

void add_render_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<RenderOptions>();
    CLI::App& command = add_command(line, "render",
                                    {words("Draw a view of a trace as a picture, without a display"),
                                     words("Requires the viewer, tidemark-gui, which draws the picture. --language "
                                           "also sets the language of the labels."),
                                     "  tidemark render run.tide --view segments --at peak --theme dark -o peak.png"});
    add_trace_option(line, command, options->trace);
    command
        .add_option("--view", options->view,
                    words("The view: {views}", with("views", fmt::format("{}", fmt::join(views, ", ")))))
        ->check(CLI::IsMember(views))
        ->capture_default_str();
    command
        .add_option("--at", options->at, words("The point in time: event:N, time:T, mark:NAME, step:N, peak or end"))
        ->capture_default_str();
    command.add_option("--stack-by", options->stack_by,
                       words("How to group the stacked plots: a value of --by of top, such as stack, category or "
                             "module (default: the view's own)"));
    command
        .add_option("--pane", options->pane,
                    words("The pane to show in the view window: {panes}",
                          with("panes", fmt::format("{}", fmt::join(panes, ", ")))))
        ->check(CLI::IsMember(panes));
    command.add_option("--device", options->device, words("The device (default: the one with the most events)"));
    command.add_option("--size", options->size, words("WIDTHxHEIGHT in pixels, each from 100 to 16384"))
        ->check([words](const std::string& size) { return check_size(size, words); })
        ->capture_default_str();
    command.add_option("--theme", options->theme, words("The color theme"))
        ->check(CLI::IsMember({"light", "dark"}))
        ->capture_default_str();
    command.add_option("-o,--output", options->output, words("The picture to write (.png or .svg)"))
        ->check([words](const std::string& name) { return check_picture_name(name, words); })
        ->required();
    command.add_flag("--force", options->force,
                     words("Replace an existing picture; traces and snapshots are never replaced"));
    set_work(line, command, [options, words](Progress&) { return run_render(*options, words); });
}

}  // namespace tidemark::cli
