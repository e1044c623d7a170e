// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the local variables of a frame from memory, because f_locals retains them before Python 3.13.
#pragma once

#include <cstddef>
#include <optional>

#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

/// Describes where a frame object stores its variables: parameters and locals, then cells, then free variables.
struct FrameLayout {
    int minor;         ///< Python 3.minor
    bool is_separate;  ///< stored in the interpreter frame that the frame object points to; false: in the frame object
    size_t variables;  ///< offset of the first variable there
    bool tagged;       ///< pointers carry tags in their low bits
};

constexpr size_t frame_interpreter_frame = 24;  ///< PyFrameObject.f_frame

/// Returns nullptr for an unknown version.
const FrameLayout* frame_layout_of(int minor);

/// Returns the address of the first variable. `frame` must be a frame object.
Address variables_of(const FrameLayout& layout, Address frame);

/// Returns 0 if the variable has no value.
inline Address value_at(const FrameLayout& layout, Address variables, size_t number) {
    const uint64_t word = read(variables, number * sizeof(Address));
    return layout.tagged ? ((word & 3) == 3 ? 0 : word & ~uint64_t{3}) : word;
}

}  // namespace tidemark::heap
