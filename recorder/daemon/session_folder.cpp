// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "storage/base/descriptor.h"
#include "storage/base/file_lock.h"
#include "storage/base/trusted_folder.h"

namespace tidemark::recorder {
namespace {

/// The program's last process and its starter end almost at the same time.
constexpr auto longest_wait_for_end = std::chrono::milliseconds(500);

}  // namespace

SessionFolder::SessionFolder(std::string folder, int64_t program) : folder_(std::move(folder)), program_(program) {
    if (exists() && !check_trusted_folder(folder_)) {
        folder_.clear();  // another user could stop the recording, or redirect the report
    }
    if (exists()) {
        file_ = open(fmt::format("{}/{}.trace", folder_, program_).c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                     0600);
        if (file_ >= 0) {
            try_lock(file_);  // without locks, `tidemark record` does not wait for this process
        }
    }
}

SessionFolder::~SessionFolder() {
    if (file_ >= 0) {
        close(file_);
    }
}

void SessionFolder::report(const SessionReport& report) {
    if (file_ < 0) {
        return;
    }
    const nlohmann::json json{{"pid", program_},
                              {"output", report.output},
                              {"place", report.place},
                              {"destination", report.destination},
                              {"state", report.state},
                              {"failure", report.failure},
                              {"events", report.events},
                              {"bytes", report.bytes},
                              {"how_ended", report.how_ended},
                              {"data_gaps", report.data_gaps}};
    const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    // Rewrites the file in place, because a watching process has it open for its lock.
    const bool reported = ftruncate(file_, 0) == 0 && pwrite(file_, text.data(), text.size(), 0) >= 0;
    static_cast<void>(reported);  // a full disk cannot be reported anywhere
}

bool SessionFolder::stop_wanted() const { return exists() && access((folder_ + "/stop").c_str(), F_OK) == 0; }

bool SessionFolder::is_ending() const {
    const auto has_ended = [this] {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
            if (entry.path().extension() == ".exit") {
                return true;
            }
        }
        return stop_wanted();
    };
    const auto deadline = std::chrono::steady_clock::now() + longest_wait_for_end;
    while (!has_ended()) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

PythonProgress SessionFolder::python_progress(const std::vector<pid_t>& processes) const {
    PythonProgress progress;
    for (const pid_t process : processes) {
        std::ifstream file(fmt::format("{}/{}.python", folder_, process));
        if (exists() && file) {
            progress.hook_ran = true;
            for (std::string word; std::getline(file, word);) {
                progress.torch_imported |= word == "torch";
                progress.cuda_initialized |= word == "cuda";
            }
            break;
        }
    }
    return progress;
}

bool SessionFolder::claim_first_name() const {
    const Descriptor first(
        open((folder_ + "/first").c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY | O_NOFOLLOW, 0600));
    return static_cast<bool>(first);
}

std::optional<std::string> SessionFolder::exit_of_program() const {
    std::ifstream file(fmt::format("{}/{}.exit", folder_, program_));
    std::string line;
    if (!exists() || !std::getline(file, line) || line.empty()) {
        return std::nullopt;
    }
    return line.substr(0, 200);
}

}  // namespace tidemark::recorder
