// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorded source of a program of one file, and diffs of it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "storage/explain/source_change.h"

namespace tidemark::test {

constexpr const char* source_file = "/home/anna/project/train.py";

inline void add_source(Trace& trace, const std::vector<std::string>& lines) {
    int32_t number = 0;
    for (const std::string& line : lines) {
        trace.source_text.add(source_file, ++number, line);
    }
}

/// A trace with the lines of one file from line 1 on, and a stack at one of them.
struct Source {
    explicit Source(const std::vector<std::string>& lines, int32_t at = 1) {
        add_source(trace, lines);
        stack = stack_at(at);
    }
    StackId stack_at(int32_t line, const std::string& function = "main") {
        const FrameId frame =
            trace.stacks.intern(Frame{trace.stacks.intern(function), trace.stacks.intern(source_file), line});
        return trace.stacks.intern_stack(std::vector{frame});
    }
    SourcePlace place(int32_t line) const { return source_place(trace, source_file, line).value(); }

    Trace trace;
    StackId stack = 0;
};

/// The diff that replaces a line.
inline std::string diff(int32_t line, const std::string& removed, const std::string& added) {
    return fmt::format("--- train.py\n+++ train.py\n@@ -{0} +{0} @@\n-{1}\n+{2}\n", line, removed, added);
}
/// The diff that keeps a line and adds one before or after it.
inline std::string diff_before(int32_t line, const std::string& added, const std::string& kept) {
    return fmt::format("--- train.py\n+++ train.py\n@@ -{0} +{0},2 @@\n-{2}\n+{1}\n+{2}\n", line, added, kept);
}
inline std::string diff_after(int32_t line, const std::string& kept, const std::string& added) {
    return fmt::format("--- train.py\n+++ train.py\n@@ -{0} +{0},2 @@\n-{1}\n+{1}\n+{2}\n", line, kept, added);
}

}  // namespace tidemark::test
