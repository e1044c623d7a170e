// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

void print_to_stderr(std::string_view prefix, std::string_view text) {
    write_all(STDERR_FILENO, fmt::format("{}{}\n", prefix, visible_lines(text)));
}

}  // namespace

Status print(std::string_view text) { return print_clean(visible_lines(text)); }

Status print_clean(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE) {
        return environment_error("The output could not be written: {reason}.", with("reason", system_reason(error)));
    }
    return {};
}

std::string json_text(const nlohmann::ordered_json& json) {
    return visible_json(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) + '\n';
}

Status print_json(const nlohmann::ordered_json& json) { return print_clean(json_text(json)); }

void print_note(const Words& words, std::string_view sentence) {
    print_to_stderr("", words("note: {text}", with("text", sentence)));
}

void print_error(const Error& error, const Words& words) {
    print_to_stderr("tidemark: ", words.translate(error.sentence));
}

void print_message(std::string_view lines) { write_all(STDERR_FILENO, visible_lines(lines)); }

ProgressBar::ProgressBar(Progress& progress, const std::string& title)
    : progress_(progress), title_(visible_text(title)) {
    if (::isatty(STDERR_FILENO) == 0) {
        return;
    }
    progress_.report = [this](const char* phase, double fraction) {
        constexpr int width = 30;
        const int done = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width);
        write_all(STDERR_FILENO, fmt::format("\r\033[K{}  {:#>{}}{:->{}}  {:3.0f} %  {}", title_, "", done, "",
                                             width - done, fraction * 100, phase));
    };
}

ProgressBar::~ProgressBar() {
    if (::isatty(STDERR_FILENO) != 0) {
        write_all(STDERR_FILENO, "\r\033[K");
    }
    progress_.report = [](const char*, double) {};
}

}  // namespace tidemark::cli
