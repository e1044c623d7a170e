// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Changes of recorded lines of the program as unified diffs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// A recorded line of the program. Valid as long as the trace.
struct SourcePlace {
    std::string_view file;
    int32_t number = 0;
    std::string_view text;  ///< with its indentation

    bool operator==(const SourcePlace& other) const { return file == other.file && number == other.number; }
};

/// Returns the recorded line; nothing if it was not recorded, or was cut.
std::optional<SourcePlace> source_place(const Trace& trace, std::string_view file, int32_t number);
std::optional<SourcePlace> source_place(const Trace& trace, FrameId frame);

/// Returns "train.py:12".
std::string name_of(const SourcePlace& place);

/// Returns the diff that replaces the line's code by lines with the same indentation. Each diff is "" if the file's
/// name has a line break, which would forge lines.
std::string replacing_diff(const Trace& trace, const SourcePlace& place, const std::vector<std::string>& lines);
/// Returns the diff that replaces a part of the line. `part`: in the line's text.
std::string replacing_diff(const Trace& trace, const SourcePlace& place, std::string_view part,
                           std::string_view replacement);
/// Returns the diff that adds lines of code before the line, with its indentation.
std::string inserting_diff_before(const Trace& trace, const SourcePlace& place, std::string_view code);
/// Returns the diff that adds lines of code after the line, with the indentation of `like`.
std::string inserting_diff_after(const Trace& trace, const SourcePlace& place, std::string_view code,
                                 const SourcePlace& like);

}  // namespace tidemark
