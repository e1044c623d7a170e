// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/stack_table.h"

#include <fmt/format.h>

#include <array>

namespace tidemark {

namespace {

size_t mix(size_t a, size_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
}

std::string_view base_name(std::string_view path) {
    const size_t slash = path.find_last_of("/\\");
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

size_t StackTable::FrameHash::operator()(const Frame& f) const {
    return mix(mix(f.function, f.file), static_cast<size_t>(f.line));
}
size_t StackTable::EntryHash::operator()(const StackEntry& e) const { return mix(e.caller, e.frame); }

StackTable::StackTable() {
    strings_.emplace_back();
    string_ids_.emplace("", 0);
    frames_.emplace_back();
    frame_ids_.emplace(Frame{}, 0);
    stacks_.emplace_back();
    stack_ids_.emplace(StackEntry{}, 0);
}

StringId StackTable::intern(std::string_view text) {
    const auto [entry, added] = string_ids_.try_emplace(std::string(text), string_count());
    if (added) {
        strings_.emplace_back(text);
    }
    return entry->second;
}

FrameId StackTable::intern(const Frame& frame) {
    const auto [entry, added] = frame_ids_.try_emplace(frame, frame_count());
    if (added) {
        frames_.push_back(frame);
    }
    return entry->second;
}

StackId StackTable::intern(const StackEntry& stack) {
    const auto [entry, added] = stack_ids_.try_emplace(stack, stack_count());
    if (added) {
        stacks_.push_back(stack);
    }
    return entry->second;
}

StackId StackTable::intern_stack(std::span<const FrameId> innermost_first) {
    StackId caller = 0;
    for (size_t i = innermost_first.size(); i > 0; --i) {
        caller = intern(StackEntry{caller, innermost_first[i - 1]});
    }
    return caller;
}

std::vector<FrameId> StackTable::frames_of(StackId id) const {
    std::vector<FrameId> frames;
    for (; id != 0; id = stacks_[id].caller) {
        frames.push_back(stacks_[id].frame);
    }
    return frames;
}

FrameId StackTable::user_frame(StackId id) const {
    const FrameId innermost = stacks_[id].frame;
    for (; id != 0; id = stacks_[id].caller) {
        const FrameId frame = stacks_[id].frame;
        if (!is_library_file(strings_[frames_[frame].file])) {
            return frame;
        }
    }
    return innermost;
}

bool is_library_file(std::string_view file) {
    constexpr std::array<std::string_view, 8> marks{"site-packages/", "dist-packages/",  "/lib/python3",
                                                    "/torch/",        "site-packages\\", "torchinductor_",
                                                    "<frozen ",       "<eval_with_key>"};
    if (file.empty() || file == "??" || file.starts_with("torch/") || file.ends_with(".so") || file.ends_with(".cpp") ||
        file.ends_with(".cu") || file.ends_with(".h")) {
        return true;
    }
    for (std::string_view mark : marks) {
        if (file.find(mark) != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

std::string describe_frame(const StackTable& table, FrameId id) {
    const Frame& frame = table.frame(id);
    const std::string& function = table.string(frame.function);
    if (table.string(frame.file).empty() || table.string(frame.file) == "??") {
        return function;
    }
    return fmt::format("{}:{} {}", base_name(table.string(frame.file)), frame.line, function);
}

}  // namespace tidemark
