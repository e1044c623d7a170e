// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/session_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "storage/base/trusted_folder.h"

namespace tidemark::recorder {

SessionFolder::SessionFolder(std::string folder, int64_t program, std::string output)
    : folder_(std::move(folder)), program_(program), output_(std::move(output)) {
    if (exists() && !check_trusted_folder(folder_)) {
        folder_.clear();  // another user could stop the recording, or redirect the report
    }
    if (exists()) {
        file_ = open(fmt::format("{}/{}.trace", folder_, program_).c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW,
                     0600);
        if (file_ >= 0) {
            flock(file_, LOCK_EX | LOCK_NB);
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
                              {"output", output_},
                              {"state", report.state},
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

std::optional<std::string> SessionFolder::exit_of_program() const {
    std::ifstream file(fmt::format("{}/{}.exit", folder_, program_));
    std::string line;
    if (!exists() || !std::getline(file, line) || line.empty()) {
        return std::nullopt;
    }
    return line.substr(0, 200);
}

}  // namespace tidemark::recorder
