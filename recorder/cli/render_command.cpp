// tidemark render: the window's own picture, drawn by the viewer without a display.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* viewer = "tidemark-gui";

struct RenderOptions {
    std::string trace, output;
    std::string view = "window", at = "peak", size = "1600x900", theme = "light", language, stack_by, pane;
    std::optional<int> device;
};

std::vector<fs::path> places_of_viewer() {
    std::vector<fs::path> places;
    std::error_code error;
    if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
        const fs::path folder = self.parent_path();
        places = {folder, folder / "../gui", folder / "../../gui"};
    }
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        places.emplace_back(folder);
    }
    return places;
}

std::optional<std::string> find_viewer() {
    for (const fs::path& place : places_of_viewer()) {
        const std::string candidate = (place / viewer).string();
        std::error_code error;
        if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) {
            return candidate;
        }
    }
    return std::nullopt;
}

std::string check_size(const std::string& text) {
    const size_t cross = text.find('x');
    for (const std::string& part : {text.substr(0, cross), cross == text.npos ? "" : text.substr(cross + 1)}) {
        int pixels = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), pixels);
        if (error != std::errc() || end != part.data() + part.size() || pixels < 100 || pixels > 16384) {
            return fmt::format("\"{}\" is not a size; use WIDTHxHEIGHT in pixels, such as 1600x900.", text);
        }
    }
    return {};
}

std::string check_picture_name(const std::string& name) {
    return name.ends_with(".png") || name.ends_with(".svg")
               ? std::string{}
               : fmt::format("\"{}\" names no kind of picture; end it in .png or .svg.", name);
}

Status check_trace(const std::string& path) {
    TIDEMARK_TRY(check_is_no_snapshot(path));
    switch (file_kind(path)) {
        case FileKind::missing: return environment_error(path + ": there is no such file.");
        case FileKind::trace: return {};
        default: return input_error(path + ": this is not a Tidemark trace.");
    }
}

std::vector<std::string> viewer_arguments(const RenderOptions& options) {
    std::vector<std::string> arguments{viewer,       "--render", options.view,  "--at", options.at,    "--size",
                                       options.size, "--theme",  options.theme, "-o",   options.output};
    if (!options.language.empty()) {
        arguments.insert(arguments.end(), {"--lang", options.language});
    }
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

/// Becomes the viewer: its exit status and messages are the command's.
Status run_render(const RenderOptions& options) {
    TIDEMARK_TRY(check_trace(options.trace));
    const auto program = find_viewer();
    if (!program) {
        return environment_error(
            "Pictures are drawn by the viewer, tidemark-gui, which is not installed here. It belongs to the package "
            "tidemark-viewer; install it, or run this where it is.");
    }
    std::vector<std::string> arguments = viewer_arguments(options);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    ::execv(program->c_str(), pointers.data());
    return environment_error(fmt::format("{} could not be started: {}.", *program, std::strerror(errno)));
}

}  // namespace

void add_render_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<RenderOptions>();
    CLI::App& command = add_command(app, "render", "Draw a view of a trace into a picture, without a display",
                                    "The viewer, tidemark-gui, draws it and must be installed.",
                                    "  tidemark render run.tide --view segments --at peak --theme dark -o peak.png");
    command.add_option("TRACE", options->trace, "A trace (.tide)")->required();
    command.add_option("--view", options->view, "timeline, allocations, segments, ledger, graph or window")
        ->check(CLI::IsMember({"timeline", "allocations", "segments", "breakdown", "graph", "window"}))
        ->capture_default_str();
    command.add_option("--at", options->at, "The moment: event:N, time:T, mark:NAME, peak or end")
        ->capture_default_str();
    command.add_option("--stack-by", options->stack_by,
                       "How stacked pictures are divided: stack, category, module, ... (as in top --by)");
    command.add_option("--pane", options->pane, "Of a window: segments, graph, table, summary or ledger")
        ->check(CLI::IsMember({"segments", "graph", "table", "summary", "breakdown"}));
    command.add_option("--device", options->device, "The device (default: the one with most events)");
    command.add_option("--size", options->size, "WIDTHxHEIGHT in pixels")->check(check_size)->capture_default_str();
    command.add_option("--theme", options->theme, "light or dark")
        ->check(CLI::IsMember({"light", "dark"}))
        ->capture_default_str();
    command.add_option("--lang", options->language, "Language of the labels, such as en or zh_CN");
    command.add_option("-o,--output", options->output, "The picture, .png or .svg")
        ->check(check_picture_name)
        ->required();
    command.callback([options, &job] { job = [options](Progress&) { return run_render(*options); }; });
}

}  // namespace tidemark::cli
