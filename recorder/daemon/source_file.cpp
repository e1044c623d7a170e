// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/source_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "storage/base/regular_file.h"
#include "storage/base/utf8.h"
#include "storage/trace/limits.h"

namespace tidemark::recorder {
namespace {

constexpr int64_t second = 1'000'000'000;
/// Larger files are data or generated code.
constexpr size_t most_file_bytes = size_t{2} << 20;

int64_t nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * second + time.tv_nsec; }

int64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return nanoseconds(time);
}

/// Returns the beginning of the file; empty on an error.
std::string content_of(int file) {
    std::string content(most_file_bytes, '\0');
    size_t size = 0;
    for (ssize_t more = 1; more > 0 && size < content.size(); size += static_cast<size_t>(std::max<ssize_t>(more, 0))) {
        more = ::read(file, content.data() + size, content.size() - size);
    }
    content.resize(size);
    return content;
}

/// Returns the line as a trace contains it.
std::string stored_line(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\r\f") + 1);
    return std::string(cut_text(valid_utf8(line.substr(0, longest_source_line)), longest_source_line));
}

std::vector<SourceLine> select_lines(std::string_view content, const std::set<int32_t>& numbers) {
    std::vector<SourceLine> lines;
    int32_t number = 1;
    for (const int32_t wanted : numbers) {
        for (; number < wanted && !content.empty(); ++number) {
            content.remove_prefix(std::min(content.find('\n'), content.size() - 1) + 1);
        }
        if (number == wanted && !content.empty()) {
            lines.push_back({number, stored_line(content.substr(0, content.find('\n')))});
        }
    }
    return lines;
}

}  // namespace

int64_t start_of_process(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const size_t name_end = text.rfind(')');  // the name may contain blanks
    if (name_end == text.npos) {
        return 0;
    }
    constexpr int fields_before_start = 19;
    std::istringstream fields(text.substr(name_end + 1));
    std::string skipped;
    for (int i = 0; i < fields_before_start; ++i) {
        fields >> skipped;
    }
    int64_t clock_ticks = 0;
    fields >> clock_ticks;
    const int64_t since_boot = clock_ticks * (second / sysconf(_SC_CLK_TCK));
    return fields ? now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME) + since_boot : 0;
}

std::string working_folder_of(pid_t pid) {
    std::error_code error;
    const auto folder = std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error);
    return error ? std::string() : folder.string();
}

SourceFile read_source_file(const std::string& path, const std::set<int32_t>& numbers, int64_t unchanged_since) {
    const auto file = open_regular_file(path);
    struct stat about {};
    if (!file || ::fstat(file->get(), &about) != 0) {
        return {};
    }
    if (nanoseconds(about.st_mtim) > unchanged_since) {
        return {SourceFile::State::changed, {}};
    }
    const std::string content = content_of(file->get());
    if (content.find('\0') != content.npos) {
        return {};
    }
    return {SourceFile::State::read, select_lines(content, numbers)};
}

}  // namespace tidemark::recorder
