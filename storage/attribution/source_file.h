// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The text of a source file of the recorded program: the lines that the trace has, and those of the file on this
// machine as far as it is the same file.
#pragma once

#include <string>
#include <string_view>

#include "storage/trace/trace.h"

namespace tidemark {

/// Where the text of a SourceFile is from.
enum class SourceOrigin : uint8_t {
    nowhere,      ///< there is no text
    trace,        ///< the lines around those that the trace names
    file,         ///< the whole file on this machine; the trace has no line of it
    checked_file  ///< the whole file on this machine, which agrees with all lines of the trace
};
/// Returns "nowhere", "trace", "file" or "checked-file".
std::string_view origin_word(SourceOrigin origin);

struct SourceFile {
    std::string path;  ///< on this machine; empty if there is no such file
    SourceOrigin origin = SourceOrigin::nowhere;
    bool is_newer = false;   ///< the file on this machine was changed after the recording began
    bool disagrees = false;  ///< its lines are not those of the trace, which are shown instead
    SourceText::Lines lines;

    const std::string* line(int32_t number) const;
};

/// Returns the text of a file as stacks name it. `path`: where it may be on this machine. Reads at most 4 MiB of it,
/// and only a regular file with an absolute name that ends like a source of Python, C++ or CUDA: a trace may contain
/// any name. Thread: any; may wait for the disk.
SourceFile read_source(const Trace& trace, const std::string& file, const std::string& path);

/// Returns whether a file is one that read_source() reads: a regular file, with the name of a source.
bool is_source_file(const std::string& path);

/// Returns where the file is if `recorded`, a folder as the trace names it, is `local` on this machine; the file itself
/// if it is not in that folder. Never leaves `local`.
std::string moved_path(const std::string& file, const std::string& recorded, const std::string& local);

}  // namespace tidemark
