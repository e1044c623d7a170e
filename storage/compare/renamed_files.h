// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Source files that have another name in the second run: a copy with the fix, "train_fixed.py".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/trace/stack_table.h"

namespace tidemark {

/// The names of one source file in both runs, without folders.
struct RenamedFile {
    std::string a, b;
    bool operator==(const RenamedFile&) const = default;
};

/// Returns the files of the user's code that only A has and that one file replaces which only B has: most lines of
/// both, with their functions, are equal, or most of their functions. A file that could be several is none.
std::vector<RenamedFile> renamed_files(const StackTable& a, const StackTable& b);

/// Returns a line or a file of A, "train.py:42 forward", under the name that its file has in B.
std::string named_as_in_b(std::string_view line, std::span<const RenamedFile> renamed);

/// Returns "train.py forward" of "train.py:42 forward": an edit of the program moves its lines. Native names, which
/// have colons but no line, stay.
std::string without_line_number(std::string_view line);

}  // namespace tidemark
