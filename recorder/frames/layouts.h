// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The parts of CPython's layout that make up a stack: 64-bit builds with the interpreter lock; offsets in bytes.
//
// Source: Include/cpython/pystate.h, Include/internal/pycore_frame.h (Include/cpython/frameobject.h of 3.10),
// Include/cpython/code.h and Include/cpython/unicodeobject.h of each version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::frames {

struct Layout {
    int minor;  ///< Python 3.minor

    size_t thread_frame;  ///< PyThreadState: the frame, or the _PyCFrame that points to it
    bool has_cframe;      ///< thread_frame points to a _PyCFrame
    size_t cframe_frame;  ///< _PyCFrame.current_frame

    bool frames_are_objects;  ///< before 3.11: PyFrameObject, with the number of its instruction and no owner
    size_t frame_code;        ///< _PyInterpreterFrame: f_code, f_executable
    size_t frame_previous;
    size_t frame_instruction;  ///< f_lasti, which is a number; prev_instr, instr_ptr
    size_t frame_owner;        ///< one byte
    uint8_t foreign_owner;     ///< frames with this owner or a higher one are no Python frames
    size_t frame_locals;       ///< localsplus
    bool tagged;               ///< pointers to objects carry tags in their low bits

    size_t code_first_line;  ///< PyCodeObject
    size_t code_file;
    size_t code_name;  ///< qualified since 3.11
    size_t code_lines;
    size_t code_bytes;  ///< co_code_adaptive, since 3.11
    /// Since 3.11: offset of _co_firsttraceable (in code units): a frame before it has not started.
    size_t code_first_traceable() const { return code_bytes - 16; }

    size_t ascii_data;                            ///< PyASCIIObject: text of ASCII strings
    size_t wide_data;                             ///< PyCompactUnicodeObject: text of others
    unsigned kind_shift, compact_bit, ascii_bit;  ///< in the state word
};

/// Returns nullptr for an unknown version.
const Layout* layout_of(int major, int minor);

constexpr uint8_t owned_by_generator = 1;
constexpr size_t bytes_size = 16;  ///< PyBytesObject.ob_size
constexpr size_t bytes_data = 32;
constexpr size_t text_length = 16;  ///< PyASCIIObject.length
constexpr size_t text_state = 32;

inline uint64_t word_at(uint64_t address, size_t offset = 0) {
    return *reinterpret_cast<const uint64_t*>(address + offset);
}
inline int32_t int_at(uint64_t address, size_t offset) { return *reinterpret_cast<const int32_t*>(address + offset); }
inline uint64_t untagged(const Layout& layout, uint64_t pointer) {
    return layout.tagged ? pointer & ~uint64_t{3} : pointer;
}

}  // namespace tidemark::frames
