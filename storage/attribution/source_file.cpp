// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/attribution/source_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "storage/base/regular_file.h"
#include "storage/base/utf8.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_source_file_bytes = 4 << 20;
constexpr std::array<std::string_view, 4> source_origins{"nowhere", "trace", "file", "checked-file"};
constexpr std::array<std::string_view, 12> source_endings{".py",  ".pyx", ".pyi", ".c",  ".cc",  ".cpp",
                                                          ".cxx", ".h",   ".hpp", ".cu", ".cuh", ".inc"};

struct FileOnDisk {
    SourceText::Lines lines;
    int64_t changed_ns = 0;  ///< of the wall clock
};

bool has_source_name(const std::string& path) {
    const fs::path name(path);
    return name.is_absolute() && std::ranges::find(source_endings, name.extension().string()) != source_endings.end();
}

std::string read_start(int descriptor) {
    std::string content(most_source_file_bytes, '\0');
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < content.size(); size += static_cast<size_t>(std::max<ssize_t>(got, 0))) {
        got = read(descriptor, content.data() + size, content.size() - size);
    }
    content.resize(size);
    return content;
}

std::optional<FileOnDisk> read_from_disk(const std::string& path) {
    if (!has_source_name(path)) {
        return std::nullopt;
    }
    const auto file = open_regular_file(path);
    struct stat about {};
    if (!file || fstat(file->get(), &about) != 0) {
        return std::nullopt;
    }
    const std::string content = valid_utf8(read_start(file->get()));
    FileOnDisk found;
    found.changed_ns = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec;
    int32_t number = 1;
    for (size_t begin = 0; begin < content.size(); ++number) {
        const size_t end = std::min(content.find('\n', begin), content.size());
        const bool has_return = end > begin && content[end - 1] == '\r';
        found.lines.emplace(number, content.substr(begin, end - begin - (has_return ? 1 : 0)));
        begin = end + 1;
    }
    return found;
}

/// The recorder cuts long lines and the line break of other systems.
bool is_same_line(const std::string& recorded, const std::string& read) {
    return read.starts_with(recorded.ends_with('\r') ? recorded.substr(0, recorded.size() - 1) : recorded);
}

bool agrees(const SourceText::Lines& recorded, const SourceText::Lines& read) {
    return std::ranges::all_of(recorded, [&](const auto& line) {
        const auto found = read.find(line.first);
        return found != read.end() && is_same_line(line.second, found->second);
    });
}

}  // namespace

std::string_view origin_word(SourceOrigin origin) { return source_origins[static_cast<size_t>(origin)]; }

const std::string* SourceFile::line(int32_t number) const {
    const auto found = lines.find(number);
    return found == lines.end() ? nullptr : &found->second;
}

SourceFile read_source(const Trace& trace, const std::string& file, const std::string& path) {
    SourceFile source;
    const auto recorded = trace.source_text.files().find(file);
    const bool has_recorded = recorded != trace.source_text.files().end() && !recorded->second.empty();
    std::optional<FileOnDisk> found = read_from_disk(path);
    if (found) {
        source.path = path;
        source.is_newer = trace.start_utc_ns != 0 && found->changed_ns > trace.start_utc_ns;
        source.disagrees = has_recorded && !agrees(recorded->second, found->lines);
    }
    if (found && !source.disagrees) {
        source.origin = has_recorded ? SourceOrigin::checked_file : SourceOrigin::file;
        source.lines = std::move(found->lines);
    } else if (has_recorded) {
        source.origin = SourceOrigin::trace;
        source.lines = recorded->second;
    }
    return source;
}

bool is_source_file(const std::string& path) {
    struct stat about {};
    return has_source_name(path) && stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

std::string moved_path(const std::string& file, const std::string& recorded, const std::string& local) {
    if (recorded.empty() || local.empty() || !file.starts_with(recorded)) {
        return file;
    }
    const std::string_view rest = std::string_view(file).substr(recorded.size());
    const fs::path inside = fs::path(rest.substr(std::min(rest.find_first_not_of('/'), rest.size())));
    const fs::path normal = inside.lexically_normal();
    const bool is_in_folder = recorded.ends_with('/') || rest.starts_with('/');
    const bool leaves = normal.empty() || *normal.begin() == ".." || normal.is_absolute();
    return !is_in_folder || leaves ? file : (fs::path(local) / normal).string();
}

}  // namespace tidemark
