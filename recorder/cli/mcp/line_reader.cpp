// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/mcp/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tidemark::cli {
namespace {

constexpr int patience_ms = 200;  ///< between looks at the flag that cancels

}  // namespace

bool LineReader::read_more(const Progress& progress) {
    std::array<char, 65536> buffer;
    while (!has_ended_ && !progress.canceled) {
        pollfd pending{descriptor_, POLLIN, 0};
        if (poll(&pending, 1, patience_ms) <= 0) {
            continue;
        }
        const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
        if (got > 0) {
            unread_.append(buffer.data(), static_cast<size_t>(got));
            return true;
        }
        has_ended_ = got == 0 || errno != EINTR;
    }
    return false;
}

LineReader::Outcome LineReader::next(std::string& line, const Progress& progress) {
    bool is_too_long = false;
    size_t searched = 0;
    for (;;) {
        const size_t end = unread_.find('\n', searched);
        is_too_long = is_too_long || (end == std::string::npos ? unread_.size() : end) > most_;
        if (end != std::string::npos) {
            line = is_too_long ? "" : unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return is_too_long ? Outcome::too_long : Outcome::line;
        }
        if (is_too_long) {
            unread_.clear();
        }
        searched = unread_.size();
        if (!read_more(progress)) {
            line = std::exchange(unread_, "");
            return line.empty() || is_too_long || progress.canceled ? Outcome::end : Outcome::line;
        }
    }
}

}  // namespace tidemark::cli
