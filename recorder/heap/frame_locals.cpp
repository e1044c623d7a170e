// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/heap/frame_locals.h"

#include <array>

namespace tidemark::heap {

namespace {

// Source: Include/cpython/frameobject.h of 3.10, Include/internal/pycore_frame.h since.
constexpr std::array<FrameLayout, 5> layouts{{
    {.minor = 10, .is_separate = false, .variables = 352, .tagged = false},
    {.minor = 11, .is_separate = true, .variables = 72, .tagged = false},
    {.minor = 12, .is_separate = true, .variables = 72, .tagged = false},
    {.minor = 13, .is_separate = true, .variables = 72, .tagged = false},
    {.minor = 14, .is_separate = true, .variables = 80, .tagged = true},
}};

}  // namespace

const FrameLayout* frame_layout_of(int minor) {
    for (const FrameLayout& layout : layouts) {
        if (layout.minor == minor) {
            return &layout;
        }
    }
    return nullptr;
}

Address variables_of(const FrameLayout& layout, Address frame) {
    return (layout.is_separate ? read(frame, frame_interpreter_frame) : frame) + layout.variables;
}

}  // namespace tidemark::heap
