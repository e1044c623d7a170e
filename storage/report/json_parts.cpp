// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/json_parts.h"

namespace tidemark {

using nlohmann::ordered_json;

ordered_json frame_json(const StackTable& stacks, FrameId id) {
    const Frame& frame = stacks.frame(id);
    return {{"function", stacks.string(frame.function)}, {"file", stacks.string(frame.file)}, {"line", frame.line}};
}

ordered_json frames_json(const StackTable& stacks, StackId stack) {
    auto list = ordered_json::array();
    for (const FrameId frame : stacks.frames_of(stack)) {
        list.push_back(frame_json(stacks, frame));
    }
    return list;
}

}  // namespace tidemark
