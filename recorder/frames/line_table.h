// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds source lines of Python's bytecode. Formats: CPython's Objects/locations.md (since 3.11), and
// Objects/lnotab_notes.txt of 3.10.
#pragma once

#include <cstdint>
#include <span>

namespace tidemark::frames {

/// Returns the line of the instruction at `offset` (in code units of two bytes), or 0 if it has none.
int line_of(std::span<const uint8_t> table, int first_line, int64_t offset);

/// The same for Python 3.10.
int line_of_3_10(std::span<const uint8_t> table, int first_line, int64_t offset);

}  // namespace tidemark::frames
