// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/allocation_texts.h"

#include <algorithm>

namespace tidemark {

void AllocationTexts::site(Column& column, AllocationIndex a) {
    const uint32_t line = lines_.group_of(a);
    column.text_of(line, [&] { return lines_.name(line); });
}

void AllocationTexts::module(Column& column, AllocationIndex a) const {
    column.text_of(device_.allocations.origin[a], [&] { return origin(a).module; });
}

void AllocationTexts::op(Column& column, AllocationIndex a) const {
    column.text_of(device_.allocations.origin[a], [&] { return origin(a).op; });
}

void AllocationTexts::phase(Column& column, AllocationIndex a) const {
    column.text_of(device_.allocations.origin[a], [&] { return word_of(origin(a).phase); });
}

void AllocationTexts::stack_of(Column& column, StackId id) const {
    column.text_of(id, [&] {
        auto frames = trace_.stacks.frames_of(id);
        std::reverse(frames.begin(), frames.end());
        std::string text;
        for (const FrameId frame : frames) {
            text += (text.empty() ? "" : ";") + describe_frame(trace_.stacks, frame);
        }
        return text;
    });
}

}  // namespace tidemark
