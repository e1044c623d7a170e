// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/frames/layouts.h"

#include <array>

namespace tidemark::frames {

namespace {

// clang-format off
constexpr std::array<Layout, 5> layouts{{
    {.minor = 10, .thread_frame = 24, .has_cframe = false, .cframe_frame = 0,
     .frames_are_objects = true, .frame_code = 32, .frame_previous = 24, .frame_instruction = 96, .frame_owner = 0,
     .foreign_owner = 3, .frame_locals = 352, .tagged = false,
     .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_bytes = 0,
     .ascii_data = 48, .wide_data = 72, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    {.minor = 11, .thread_frame = 56, .has_cframe = true, .cframe_frame = 8,
     .frames_are_objects = false, .frame_code = 32, .frame_previous = 48, .frame_instruction = 56, .frame_owner = 69,
     .foreign_owner = 3, .frame_locals = 72, .tagged = false,
     .code_first_line = 72, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytes = 184,
     .ascii_data = 48, .wide_data = 72, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    {.minor = 12, .thread_frame = 56, .has_cframe = true, .cframe_frame = 0,
     .frames_are_objects = false, .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
     .foreign_owner = 3, .frame_locals = 72, .tagged = false,
     .code_first_line = 68, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytes = 192,
     .ascii_data = 40, .wide_data = 56, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    {.minor = 13, .thread_frame = 72, .has_cframe = false, .cframe_frame = 0,
     .frames_are_objects = false, .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 70,
     .foreign_owner = 3, .frame_locals = 72, .tagged = false,
     .code_first_line = 68, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytes = 200,
     .ascii_data = 40, .wide_data = 56, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    {.minor = 14, .thread_frame = 72, .has_cframe = false, .cframe_frame = 0,
     .frames_are_objects = false, .frame_code = 0, .frame_previous = 8, .frame_instruction = 56, .frame_owner = 74,
     .foreign_owner = 3, .frame_locals = 80, .tagged = true,
     .code_first_line = 68, .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytes = 208,
     .ascii_data = 40, .wide_data = 56, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
}};
// clang-format on

}  // namespace

const Layout* layout_of(int major, int minor) {
    for (const Layout& layout : layouts) {
        if (major == 3 && layout.minor == minor) {
            return &layout;
        }
    }
    return nullptr;
}

}  // namespace tidemark::frames
