// The local variables of a frame, read from memory: asking Python for them would keep them alive (before 3.13).
#pragma once

#include <cstddef>
#include <optional>

#include "recorder/heap/object_layout.h"

namespace tidemark::heap {

/// Where a frame object keeps its variables: parameters and locals, cells, free variables, in this order.
struct FrameLayout {
    int minor;         ///< Python 3.minor
    bool apart;        ///< in an interpreter frame that the object points to, else in the object
    size_t variables;  ///< offset there
    bool tagged;       ///< pointers carry tags in their low bits
};

constexpr size_t frame_interpreter_frame = 24;  ///< PyFrameObject.f_frame

/// nullptr: not known.
const FrameLayout* frame_layout_of(int minor);

/// Where the variables begin. `frame` must be a frame object.
Address variables_of(const FrameLayout& layout, Address frame);

/// 0: the variable has no value now.
inline Address value_at(const FrameLayout& layout, Address variables, size_t number) {
    const uint64_t word = read(variables, number * sizeof(Address));
    return layout.tagged ? ((word & 3) == 3 ? 0 : word & ~uint64_t{3}) : word;
}

}  // namespace tidemark::heap
