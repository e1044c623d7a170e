// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The programs on this machine that are recorded, or that wait for the request, and requests to them: see
// recorder/SESSIONS.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recorder/control/control_socket.h"
#include "recorder/control/runtime_folder.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

enum class ProgramState : uint8_t {
    recording,
    details_paused,  ///< recorded, but only the allocator's events
    waiting,         ///< for the first use of CUDA
    ending,          ///< the recorder completes the trace
    not_resumed,     ///< started by `tidemark record --paused`: nothing is recorded yet
    attachable,      ///< nothing is recorded
    not_responding,  ///< its recorder, or the program itself, gives no answer
};
std::string state_words(const Words& words, ProgramState state);
/// Returns a stable word for JSON: "recording".
std::string_view state_word(ProgramState state);

struct RecordedProgram {
    int64_t pid = 0;
    recorder::Listener listener = recorder::Listener::recorder;
    ProgramState state = ProgramState::not_responding;
    std::string command_line;  ///< as the system shows it
    int64_t since_utc_ns = 0;  ///< begin of the recording, or of the wait for it; 0: unknown
    std::string trace;         ///< where the trace can be opened; empty: it has no name yet
    int64_t events = 0, bytes = 0;
    std::optional<double> cost;  ///< share of the time

    bool is_recorded() const { return listener == recorder::Listener::recorder; }
};

/// Returns this user's programs, by pid. Removes the sockets of those that have ended. Error (environment): another
/// user could change the folder of the sockets.
Result<std::vector<RecordedProgram>> recorded_programs();

/// Returns the program with this pid. Errors (usage): there is no such process, or it is not recorded and does not wait
/// for it. Errors (environment): it belongs to another user, or does not respond.
Result<RecordedProgram> find_recorded_program(int64_t pid);

/// Sends a request to the program's recorder, or to the program itself. Returns the answer, whose "ok" is true. Errors
/// (environment): it has ended, does not answer in time, or refuses; the sentence has the cause and the fix.
Result<nlohmann::json> request_of(const RecordedProgram& program, const nlohmann::json& request,
                                  std::chrono::milliseconds patience);

/// Returns the trace of the process if `text` is a pid and no file, else `text`. Errors: as find_recorded_program();
/// the program has no trace yet (environment).
Result<std::string> trace_or_pid(const std::string& text);

/// Parses a process id. Error (usage): it is none.
Result<int64_t> parse_pid(const std::string& text);
/// Returns the user of a process. Error (usage): there is no such process.
Result<uid_t> owner_of(int64_t pid);
/// Checks that this user may steer recordings of processes of that user. Error (environment): it may not.
Status check_may_steer(int64_t pid, uid_t owner);

}  // namespace tidemark::cli
