// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/folded_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "storage/base/utf8.h"

namespace tidemark {
namespace {

/// Returns a frame's name without the character that separates frames.
std::string frame_text(const StackTable& stacks, FrameId frame) {
    std::string text = visible_text(describe_frame(stacks, frame));
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

std::string folded(const StackTable& stacks, StackId stack, std::string_view root) {
    auto frames = stacks.frames_of(stack);
    std::reverse(frames.begin(), frames.end());
    std::string text(root);
    for (const FrameId frame : frames) {
        if (stacks.role(frame) != FrameRole::plumbing) {
            text += (text.empty() ? "" : ";") + frame_text(stacks, frame);
        }
    }
    if (text.size() == root.size()) {
        text += root.empty() ? "(no stack)" : ";(no stack)";
    }
    return text;
}

}  // namespace

Status write_folded_stacks(const Trace& trace, const DeviceHistory& device, std::span<const ActiveAllocation> active,
                           std::string_view root, const TakeBytes& take) {
    std::unordered_map<StackId, uint64_t> by_stack;
    for (const ActiveAllocation& allocation : active) {
        by_stack[device.allocations.stack[allocation.allocation]] +=
            device.allocations.block_size[allocation.allocation];
    }
    std::map<std::string, uint64_t> by_text;  // stacks may differ only in frames that are left out
    for (const auto& [stack, bytes] : by_stack) {
        by_text[folded(trace.stacks, stack, root)] += bytes;
    }
    ByteBuffer buffer(take);
    for (const auto& [text, bytes] : by_text) {
        fmt::format_to(std::back_inserter(buffer.text()), "{} {}\n", text, bytes);
        buffer.pass_on_some();
    }
    return buffer.finish();
}

}  // namespace tidemark
