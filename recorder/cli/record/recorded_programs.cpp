// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/recorded_programs.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "storage/base/parse_number.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using recorder::Listener;
using recorder::NoAnswer;
using std::chrono::milliseconds;

/// For the status, which needs no work.
constexpr auto status_patience = milliseconds(1000);

std::string user_name(uid_t user) {
    const passwd* known = ::getpwuid(user);
    return known == nullptr ? fmt::to_string(user) : known->pw_name;
}

std::string command_line_of(int64_t pid) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    while (!text.empty() && text.back() == '\0') {
        text.pop_back();
    }
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

ProgramState state_of(const std::string& word) {
    return word == "recording"    ? ProgramState::recording
           : word == "paused"     ? ProgramState::details_paused
           : word == "waiting"    ? ProgramState::waiting
           : word == "ending"     ? ProgramState::ending
           : word == "attachable" ? ProgramState::attachable
                                  : ProgramState::not_responding;
}

template <class T>
T value_or(const nlohmann::json& json, const char* key, T fallback) {
    const auto found = json.find(key);
    if (found == json.end()) {
        return fallback;
    }
    if constexpr (std::is_same_v<T, std::string>) {
        return found->is_string() ? found->get<std::string>() : fallback;
    } else {
        return found->is_number() ? found->get<T>() : fallback;
    }
}

/// Returns the time when a socket was made: then the program began to wait.
int64_t time_of(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec : 0;
}

/// Returns nothing if the process has ended.
std::optional<RecordedProgram> look_at(const recorder::ControlSocket& socket, uid_t user) {
    RecordedProgram program;
    program.pid = socket.pid;
    program.listener = socket.listener;
    program.command_line = command_line_of(socket.pid);
    program.since_utc_ns = time_of(socket.path);
    const auto answer = recorder::ask(socket.path, {{"request", "status"}}, user, status_patience);
    if (!answer) {
        const bool has_ended = answer.error() == NoAnswer::no_listener || answer.error() == NoAnswer::closed;
        return has_ended ? std::nullopt : std::optional(program);
    }
    program.state = state_of(value_or(*answer, "state", std::string()));
    if (!program.is_recorded() && program.state == ProgramState::details_paused) {
        program.state = ProgramState::not_resumed;
    }
    program.since_utc_ns = value_or(*answer, "start_utc_ns", program.since_utc_ns);
    program.trace = value_or(*answer, "output", std::string());
    program.events = value_or(*answer, "events", int64_t{0});
    program.bytes = value_or(*answer, "bytes", int64_t{0});
    if (const auto cost = answer->find("cost"); cost != answer->end() && cost->is_number()) {
        program.cost = cost->get<double>();
    }
    return program;
}

Error does_not_respond(int64_t pid) {
    return environment_error(
        "Process {pid} did not answer in time. It may be suspended or very busy; try again, or end the recording with "
        "the program.",
        with("pid", pid));
}

Error has_ended(int64_t pid) {
    return environment_error(
        "The recording of process {pid} has ended meanwhile. `tidemark ps` lists the recorded programs.",
        with("pid", pid));
}

Error explain(const RecordedProgram& program, NoAnswer reason) {
    switch (reason) {
        case NoAnswer::no_listener:
        case NoAnswer::closed: return has_ended(program.pid);
        case NoAnswer::silent: return does_not_respond(program.pid);
        case NoAnswer::foreign:
        case NoAnswer::refused:
            return environment_error(
                "Another user answers for process {pid}, or this user may not ask: the folder {folder} is not used. "
                "Remove it, or ask an administrator.",
                with("pid", program.pid), with("folder", recorder::runtime_folder(::geteuid())));
        case NoAnswer::unreadable: break;
    }
    return environment_error("The answer of process {pid} is not readable. Use the command of the same installation.",
                             with("pid", program.pid));
}

Error explain_refusal(const RecordedProgram& program, const nlohmann::json& answer) {
    const std::string reason = value_or(answer, "error", std::string());
    const auto pid = with("pid", program.pid);
    if (reason == "waiting" || reason == "starting") {
        return environment_error("Process {pid} has not used the GPU yet, so there is no trace. Try again later.", pid);
    }
    if (reason == "ending") {
        return environment_error("The recording of process {pid} is being completed. Open its trace instead.", pid);
    }
    if (reason == "busy") {
        return environment_error(
            "The recorder of process {pid} could not write all events in time: the disk is too slow. Try again later.",
            pid);
    }
    if (reason == "recorded") {
        return usage_error("Process {pid} is already being recorded into {trace}.", pid,
                           with("trace", value_or(answer, "output", std::string())));
    }
    return environment_error("Process {pid} cannot be recorded: {details}", pid,
                             with("details", value_or(answer, "details", reason)));
}

}  // namespace

std::string state_words(const Words& words, ProgramState state) {
    switch (state) {
        case ProgramState::recording: return words("recording");
        case ProgramState::details_paused: return words("details paused");
        case ProgramState::waiting: return words("waiting for CUDA");
        case ProgramState::ending: return words("completing the trace");
        case ProgramState::not_resumed: return words("paused, nothing recorded");
        case ProgramState::attachable: return words("attachable, nothing recorded");
        case ProgramState::not_responding: break;
    }
    return words("not responding");
}

std::string_view state_word(ProgramState state) {
    switch (state) {
        case ProgramState::recording: return "recording";
        case ProgramState::details_paused: return "details_paused";
        case ProgramState::waiting: return "waiting_for_cuda";
        case ProgramState::ending: return "ending";
        case ProgramState::not_resumed: return "paused";
        case ProgramState::attachable: return "attachable";
        case ProgramState::not_responding: break;
    }
    return "not_responding";
}

Result<std::vector<RecordedProgram>> recorded_programs() {
    const std::string folder = recorder::runtime_folder(::geteuid());
    TIDEMARK_TRY(recorder::check_runtime_folder(folder, ::geteuid()));
    std::vector<RecordedProgram> programs;
    for (const recorder::ControlSocket& socket : recorder::control_sockets(folder)) {
        if (auto program = look_at(socket, ::geteuid())) {
            const bool is_known = !programs.empty() && programs.back().pid == program->pid;
            // A program that waited for its recording still listens. Its trace comes before it.
            if (is_known && programs.back().is_recorded()) {
                continue;
            }
            programs.push_back(*std::move(program));
        }
    }
    return programs;
}

Result<int64_t> parse_pid(const std::string& text) {
    const auto pid = parse_number<int64_t>(text);
    if (!pid || *pid <= 0) {
        return usage_error("\"{text}\" is not a process id. `tidemark ps` lists the recorded programs.",
                           with("text", text));
    }
    return *pid;
}

Result<uid_t> owner_of(int64_t pid) {
    struct stat about {};
    if (::stat(fmt::format("/proc/{}", pid).c_str(), &about) != 0) {
        return usage_error("There is no process {pid}. `tidemark ps` lists the recorded programs.", with("pid", pid));
    }
    return about.st_uid;
}

Status check_may_steer(int64_t pid, uid_t owner) {
    if (::geteuid() == 0 || owner == ::geteuid()) {
        return {};
    }
    return environment_error("Process {pid} belongs to the user {owner}; only that user and root may steer it.",
                             with("pid", pid), with("owner", user_name(owner)));
}

Result<RecordedProgram> find_recorded_program(int64_t pid) {
    const auto owner = owner_of(pid);
    if (!owner) {
        return owner.error();
    }
    TIDEMARK_TRY(check_may_steer(pid, *owner));
    const std::string folder = recorder::runtime_folder(*owner);
    TIDEMARK_TRY(recorder::check_runtime_folder(folder, *owner));
    for (const Listener listener : {Listener::recorder, Listener::program}) {
        const std::string path = recorder::socket_path(folder, pid, listener);
        std::error_code error;
        if (!fs::exists(path, error)) {
            continue;
        }
        if (auto program = look_at({pid, listener, path}, *owner)) {
            return program->state == ProgramState::not_responding ? Result<RecordedProgram>(does_not_respond(pid))
                                                                  : *std::move(program);
        }
    }
    return usage_error(
        "Process {pid} is not being recorded. Start the program with `tidemark record`, or try `tidemark attach "
        "{pid}`.",
        with("pid", pid));
}

Result<nlohmann::json> request_of(const RecordedProgram& program, const nlohmann::json& request,
                                  milliseconds patience) {
    const auto owner = owner_of(program.pid);
    if (!owner) {
        return has_ended(program.pid);
    }
    const std::string path = recorder::socket_path(recorder::runtime_folder(*owner), program.pid, program.listener);
    auto answer = recorder::ask(path, request, *owner, patience);
    if (!answer) {
        return explain(program, answer.error());
    }
    const auto ok = answer->find("ok");
    const bool is_done = ok != answer->end() && ok->is_boolean() && ok->get<bool>();
    return is_done ? Result<nlohmann::json>(*std::move(answer)) : explain_refusal(program, *answer);
}

Result<std::string> trace_or_pid(const std::string& text) {
    std::error_code error;
    const bool is_number =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
    if (!is_number || fs::exists(text, error)) {
        return text;
    }
    const auto pid = parse_pid(text);
    if (!pid) {
        return pid.error();
    }
    const auto program = find_recorded_program(*pid);
    if (!program) {
        return program.error();
    }
    if (!program->is_recorded()) {
        return environment_error("Nothing is recorded of process {pid} yet. Start it with: tidemark resume {pid}",
                                 with("pid", *pid));
    }
    if (program->trace.empty()) {
        return environment_error("Process {pid} has not used the GPU yet, so there is no trace. Try again later.",
                                 with("pid", *pid));
    }
    return program->trace;
}

}  // namespace tidemark::cli
