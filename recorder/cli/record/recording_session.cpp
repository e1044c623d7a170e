// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/record/recording_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "recorder/cli/output.h"
#include "storage/base/descriptor.h"
#include "storage/base/file_lock.h"
#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"
#include "storage/base/trusted_folder.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether the recorder of this trace still runs.
bool is_locked(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return false;
    }
    const bool locked = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(file);
    return locked;
}

RecordedTrace read_trace(const std::string& path) {
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    RecordedTrace trace;
    if (!json.is_object()) {
        trace.state = "unreadable";
        return trace;
    }
    const auto text = [&](const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto number = [&](const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
    };
    trace.output = text("output");
    trace.place = text("place");
    trace.destination = text("destination");
    trace.failure = text("failure");
    trace.state = text("state");
    trace.how_ended = text("how_ended");
    trace.events = number("events");
    trace.bytes = number("bytes");
    if (const auto data_gaps = json.find("data_gaps"); data_gaps != json.end() && data_gaps->is_array()) {
        for (const auto& data_gap : *data_gaps) {
            trace.data_gaps.push_back(data_gap.is_string() ? data_gap.get<std::string>() : data_gap.dump());
        }
    }
    return trace;
}

Error cannot_create(const std::string& folder, int reason) {
    return environment_error("The folder {folder} for the recording could not be created: {reason}.",
                             with("folder", folder), with("reason", system_reason(reason)));
}

/// Checks that recorders can lock their reports in the folder. Without locks, nobody could wait for them.
Status check_locks(const std::string& folder) {
    const std::string path = folder + "/lock";
    const Descriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    const LockAttempt attempt = file ? try_lock(file.get()) : LockAttempt::locked;
    const int reason = errno;
    ::unlink(path.c_str());
    return attempt == LockAttempt::locked
               ? Status()
               : environment_error(
                     "The folder {folder} for the recording has no file locks ({reason}). Set TMPDIR to a folder on a "
                     "local disk.",
                     with("folder", folder), with("reason", system_reason(reason)));
}

/// Creates a folder in `parent` that no other user can change.
Result<std::string> create_session_folder(const fs::path& parent) {
    std::string created = (parent / "tidemark-session-XXXXXX").string();
    if (::mkdtemp(created.data()) == nullptr) {
        return cannot_create(created, errno);
    }
    Status usable = check_trusted_folder(created);
    if (usable) {
        usable = check_locks(created);
    }
    if (!usable) {
        ::rmdir(created.c_str());
        return usable.error();
    }
    return created;
}

}  // namespace

Result<RecordingSession> RecordingSession::begin(const std::string& folder) {
    if (!folder.empty()) {
        if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
            return cannot_create(folder, errno);
        }
        TIDEMARK_TRY(check_trusted_folder(folder));
        TIDEMARK_TRY(check_locks(folder));
        return RecordingSession(fs::absolute(folder).string(), false);
    }
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    auto created = create_session_folder(error ? fs::path("/tmp") : temporary);
    if (!created && temporary != "/tmp") {
        created = create_session_folder("/tmp");
    }
    return created ? RecordingSession(*created, true) : Result<RecordingSession>(created.error());
}

RecordingSession::RecordingSession(RecordingSession&& other) noexcept
    : folder_(std::move(other.folder_)), own_(std::exchange(other.own_, false)) {}

RecordingSession::~RecordingSession() {
    // A recorder that still runs writes into the folder.
    if (own_ && !is_recording()) {
        std::error_code error;
        fs::remove_all(folder_, error);
    }
}

void RecordingSession::program_ended(const Ending& ending) const {
    // Renames a complete file, because a recorder may read it at any time.
    const Status written = write_file(fmt::format("{}/{}.exit", folder_, ending.pid), ending.text(), FileAccess::owner);
    static_cast<void>(written);  // the trace then lacks the exit status, and says so
}

std::vector<std::string> RecordingSession::files(const char* extension) const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        if (entry.path().extension() == extension) {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool RecordingSession::is_recording() const {
    const auto traces = files(".trace");
    return std::any_of(traces.begin(), traces.end(), is_locked);
}

bool RecordingSession::wait_for_recorders(const Words& words, const Progress& progress) {
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    bool is_noted = false;
    while (is_recording()) {
        if (progress.canceled) {
            return false;
        }
        if (!is_noted && std::chrono::steady_clock::now() - begin > 2s) {
            print_note(
                words,
                words("waiting for the recorder to complete the traces; after Ctrl-C it continues in the background."));
            is_noted = true;
        }
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

std::vector<RecordedTrace> RecordingSession::traces() const {
    std::vector<RecordedTrace> traces;
    for (const std::string& file : files(".trace")) {
        traces.push_back(read_trace(file));
    }
    // A recorder that was killed before its program used the GPU has written nothing.
    std::erase_if(traces, [](const RecordedTrace& trace) { return trace.output.empty(); });
    for (RecordedTrace& trace : traces) {
        std::error_code error;
        if (!fs::exists(trace.output, error) && fs::exists(trace.place, error)) {
            trace.output = trace.place;  // the folder with the link is gone
        }
    }
    std::sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return a.output < b.output; });
    return traces;
}

std::vector<PythonProcess> RecordingSession::python_processes() const {
    std::vector<PythonProcess> processes;
    for (const std::string& path : files(".python")) {
        PythonProcess& process = processes.emplace_back();
        std::ifstream file(path);
        for (std::string word; std::getline(file, word);) {
            process.imported_torch |= word == "torch";
            process.initialized_cuda |= word == "cuda";
        }
    }
    return processes;
}

}  // namespace tidemark::cli
