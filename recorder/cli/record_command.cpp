// tidemark record: runs a program and records what it does with GPU memory.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "recorder/cli/command.h"
#include "recorder/cli/exit_status.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "recorder/cli/program.h"
#include "recorder/cli/record_check.h"
#include "recorder/cli/recorder_home.h"
#include "recorder/cli/recording_session.h"
#include "storage/base/units.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> recordable{"stacks", "ops", "modules", "graph", "driver", "nvml"};

struct RecordOptions {
    Arguments command;
    std::string output = "run.tide", with = fmt::format("{}", fmt::join(recordable, ",")), session, format = "text";
    bool replace = false, check = false;
};

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream rest(list);
    for (std::string word; std::getline(rest, word, ',');) {
        if (!word.empty()) {
            words.push_back(word);
        }
    }
    return words;
}

std::string check_with(const std::string& list) {
    for (const std::string& word : split(list)) {
        if (std::find(recordable.begin(), recordable.end(), word) == recordable.end()) {
            return fmt::format("\"{}\" cannot be recorded; choose from {}.", word, fmt::join(recordable, ", "));
        }
    }
    return {};
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Before the program runs for hours: can its trace be written?
Status check_output(const RecordOptions& options) {
    TIDEMARK_TRY(may_write_trace(options.output, options.replace, "--replace"));
    const fs::path folder = fs::absolute(options.output).parent_path();
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return environment_error(fmt::format("{}: there is no such folder for the trace.", folder.string()));
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        return environment_error(
            fmt::format("{}: nothing may be written in this folder; choose another place with -o.", folder.string()));
    }
    return {};
}

/// Lets the CUDA driver load our driver part, unless another tool has that place.
void add_driver_part(const RecorderHome& home, std::vector<std::string>& with, Variables& variables) {
    const auto asked = std::find(with.begin(), with.end(), "driver");
    if (asked == with.end()) {
        return;
    }
    const std::string ours = home.part("libtidemark_driver.so"), loaded = environment("CUDA_INJECTION64_PATH");
    if (!loaded.empty() && loaded != ours) {
        print_note(
            fmt::format("memory that is not PyTorch's is not told apart: another tool has the CUDA driver load "
                        "{} (CUDA_INJECTION64_PATH). Run without that tool to record it.",
                        loaded));
        with.erase(asked);
        return;
    }
    std::error_code error;
    if (fs::exists(ours, error)) {
        variables["CUDA_INJECTION64_PATH"] = ours;
    }
    // Kineto then gives CUPTI back after profiling, and we can take it again.
    if (environment("TEARDOWN_CUPTI").empty()) {
        variables["TEARDOWN_CUPTI"] = "1";
    }
}

/// What makes the program and all it starts record: see recorder/SESSIONS.md.
Variables variables_for(const RecordOptions& options, const RecorderHome& home, const std::string& session) {
    Variables variables;
    std::vector<std::string> with = split(options.with);
    add_driver_part(home, with, variables);
    const std::string python_path = environment("PYTHONPATH");
    variables["PYTHONPATH"] = home.part("startup") + (python_path.empty() ? "" : ":" + python_path);
    variables["TIDEMARK_RECORD"] = "1";
    variables["TIDEMARK_OUTPUT"] = fs::absolute(options.output).lexically_normal().string();
    variables["TIDEMARK_WITH"] = fmt::format("{}", fmt::join(with, ","));
    variables["TIDEMARK_REPLACE"] = options.replace ? "1" : "0";
    variables["TIDEMARK_SESSION"] = session;
    variables["TIDEMARK_HOME"] = home.folder;
    return variables;
}

/// As the user would write it: relative where it lies below the current folder.
std::string short_path(const std::string& path) {
    std::error_code error;
    const std::string relative = fs::path(path).lexically_relative(fs::current_path(error)).string();
    return error || relative.empty() || relative.starts_with("..") ? path : relative;
}

std::string shell_word(const std::string& text) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-/+,=:@%", c);
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
        return text;
    }
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

/// An exception's first sentence; the program itself has just printed all of it.
std::string shortened(const std::string& how) {
    constexpr size_t longest = 80;
    size_t end = std::min({how.find(". "), how.find('\n'), how.size()});
    if (end <= longest) {
        return how.substr(0, end);
    }
    for (end = longest; end > 0 && (how[end] & 0xc0) == 0x80;) {
        --end;  // never inside a character
    }
    return how.substr(0, end) + "...";
}

/// "run.tide: 12,345 events, 1.20 MiB, the program exited", and what is missing.
std::string summary(const RecordedTrace& trace) {
    const std::string how = !trace.how_ended.empty()     ? trace.how_ended
                            : trace.state == "recording" ? "the recorder itself was ended: the last moment is missing"
                                                         : trace.state;
    std::string text =
        fmt::format("{}: {} events, {}{}{}\n", one_line(short_path(trace.output)), format_count(trace.events),
                    format_bytes(trace.bytes), how.empty() ? "" : ", ", one_line(shortened(how)));
    for (const std::string& data_gap : trace.data_gaps) {
        text += fmt::format("  missing: {}\n", one_line(data_gap));
    }
    return text;
}

std::string next_commands(const std::vector<RecordedTrace>& traces) {
    const auto best = std::max_element(traces.begin(), traces.end(),
                                       [](const auto& a, const auto& b) { return a.events < b.events; });
    const std::string path = one_line(shell_word(short_path(best->output)));
    return fmt::format("Next: tidemark info {0}\n      tidemark top {0} --at peak", path);
}

void report(const std::vector<RecordedTrace>& traces) {
    if (traces.empty()) {
        print_note(
            "no process used the GPU, so there is no trace. `tidemark record --check` says what is missing here, "
            "if anything is.");
        return;
    }
    std::string text;
    for (const RecordedTrace& trace : traces) {
        text += summary(trace);
    }
    print_message(text + next_commands(traces));
}

Status run_check(const RecordOptions& options, int& exit_code) {
    const RecordCheck check = check_recording(options.command);
    exit_code = std::string_view(check.works()) == "no" ? exit_environment : exit_fine;
    return options.format == "json" ? print_json(check_json(check)) : print(check_text(check));
}

Status run_record(const RecordOptions& options, const Progress& progress, int& exit_code) {
    if (options.command.empty()) {
        return usage_error("Which program? tidemark record [-o run.tide] -- COMMAND ARGUMENTS");
    }
    const RecorderHome home = find_recorder_home();
    TIDEMARK_TRY(check_can_record(home));
    TIDEMARK_TRY(check_output(options));
    auto session = RecordingSession::begin(options.session);
    if (!session) {
        return session.error();
    }
    const auto ending = run_in_foreground(options.command, variables_for(options, home, session->folder()));
    if (!ending) {
        return ending.error();
    }
    session->program_ended(*ending);
    exit_code = ending->exit_status();
    if (!session->wait_for_recorders(progress)) {
        print_note("traces are still being written in the background.");
    }
    report(session->traces());
    return {};
}

}  // namespace

void add_record_command(CLI::App& app, Job& job, int& exit_code) {
    auto options = std::make_shared<RecordOptions>();
    CLI::App& command = add_command(
        app, "record", "Run a program and record what it does with GPU memory",
        "The program needs no change. Every process of it that uses the GPU writes a trace: the first run.tide, "
        "others\n"
        "run.PID.tide, and with ranks run.rank0-PID.tide. What can be left out with --with, all by default:\n"
        "  stacks   the Python lines that allocate\n"
        "  ops      the operators and autograd nodes they run in\n"
        "  modules  the torch.nn.Module each belongs to\n"
        "  graph    the autograd graph, what its nodes keep alive, and who holds it\n"
        "  driver   memory that is not PyTorch's: cuBLAS, NCCL, other libraries (uses CUPTI)\n"
        "  nvml     what nvidia-smi shows, sampled\n"
        "Once the program runs, the exit status is its own; 128 + N when signal N killed it.",
        "  tidemark record -o run.tide -- python train.py --epochs 1\n"
        "  tidemark record -- torchrun --nproc-per-node 2 train.py\n"
        "  tidemark record --check -- python train.py");
    command.add_option("-o,--output", options->output, "The trace to write")->capture_default_str();
    command.add_option("--with", options->with, "What to record, with commas")
        ->check(check_with)
        ->capture_default_str();
    command.add_flag("--replace", options->replace,
                     "Replace a trace that exists already; other files are never replaced");
    command.add_flag("--check", options->check, "Record nothing; say what can be recorded here and what would help");
    command.add_option("--format", options->format, "text or json, of --check")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.add_option("--session", options->session)->group("");
    command.add_option("COMMAND", options->command, "The program and its arguments, after --");
    command.positionals_at_end();
    command.callback([options, &job, &exit_code] {
        job = [options, &exit_code](Progress& progress) {
            return options->check ? run_check(*options, exit_code) : run_record(*options, progress, exit_code);
        };
    });
}

}  // namespace tidemark::cli
