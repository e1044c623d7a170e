// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string without_controls(std::string_view text, bool keep_newlines) {
    std::string clean(text);
    std::replace_if(
        clean.begin(), clean.end(), [&](char c) { return is_control(c) && !(keep_newlines && c == '\n'); }, '?');
    return clean;
}

/// Returns 0 or the error number.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
    return 0;
}

void print_to_stderr(std::string_view prefix, std::string_view text) {
    write_all(STDERR_FILENO, fmt::format("{}{}\n", prefix, without_controls(text, true)));
}

}  // namespace

Status print(std::string_view text) { return print_clean(without_controls(text, true)); }

Status print_clean(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE) {
        return environment_error("The output could not be written: {reason}.", with("reason", system_reason(error)));
    }
    return {};
}

Status print_json(const nlohmann::ordered_json& json) {
    return print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

void print_note(const Words& words, std::string_view sentence) {
    print_to_stderr("", words("note: {text}", with("text", sentence)));
}

void print_error(const Error& error, const Words& words) {
    print_to_stderr("tidemark: ", words.translate(error.sentence));
}

void print_message(std::string_view text) { print_to_stderr("", text); }

std::string one_line(std::string_view text) { return without_controls(text, false); }

ProgressBar::ProgressBar(Progress& progress, std::string title) : progress_(progress), title_(one_line(title)) {
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
