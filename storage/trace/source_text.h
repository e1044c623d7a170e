// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Lines of the program's own files around the lines that its stacks and retention paths name, as the recorder read
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

struct SourceLine {
    int32_t number = 0;  ///< from 1
    std::string text;    ///< without the line break
    bool operator==(const SourceLine&) const = default;
};

/// A line of a file with the lines around it.
struct SourceExcerpt {
    std::string file;               ///< as in the stack
    int32_t line = 0;               ///< the line that is meant
    std::vector<SourceLine> lines;  ///< consecutive; empty: not recorded

    bool empty() const { return lines.empty(); }
};

class SourceText {
public:
    using Lines = std::map<int32_t, std::string>;

    /// Returns false if the line exists already.
    bool add(std::string_view file, int32_t number, std::string text);
    /// Returns nullptr if the line was not recorded.
    const std::string* line(std::string_view file, int32_t number) const;
    /// Returns the line and the lines that adjoin it, at most `distance` before and after; empty if the line was not
    /// recorded.
    SourceExcerpt around(std::string_view file, int32_t number, int32_t distance) const;

    const std::map<std::string, Lines, std::less<>>& files() const { return files_; }
    bool empty() const { return files_.empty(); }
    bool operator==(const SourceText&) const = default;

private:
    std::map<std::string, Lines, std::less<>> files_;
};

}  // namespace tidemark
