// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/trace/stack_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/trace/base_name.h"
#include "storage/trace/limits.h"

namespace tidemark {

namespace {

size_t mix(size_t a, size_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
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
    roles_.push_back(FrameRole::plumbing);
    as_site_.push_back(0);
    stacks_.emplace_back();
    sites_.push_back(0);
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
        classify(entry->second);
    }
    return entry->second;
}

StackId StackTable::intern(const StackEntry& stack) {
    if (stack.frame == 0) {
        return stack.caller;
    }
    const auto [entry, added] = stack_ids_.try_emplace(stack, stack_count());
    if (added) {
        stacks_.push_back(stack);
        sites_.push_back(site_of(stack));
    }
    return entry->second;
}

StackId StackTable::intern_stack(std::span<const FrameId> innermost_first) {
    StackId caller = 0;
    for (size_t i = std::min(innermost_first.size(), most_frames_of_stack); i > 0; --i) {
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

void StackTable::classify(FrameId id) {
    const std::string& function = strings_[frames_[id].function];
    const FrameRole role = role_of_frame(function, strings_[frames_[id].file], frames_[id].line);
    roles_.push_back(role);
    as_site_.push_back(role == FrameRole::plumbing ? 0
                       : is_located(role)          ? id
                                          : native_sites_.try_emplace(native_name(function), id).first->second);
}

FrameId StackTable::site_of(const StackEntry& entry) const {
    const FrameId caller = sites_[entry.caller];
    return roles_[entry.frame] >= roles_[caller] ? as_site_[entry.frame] : caller;
}

FrameId StackTable::innermost(StackId id) const {
    const FrameId site = sites_[id];
    const FrameRole least = is_python(roles_[site]) ? FrameRole::library : FrameRole::op;
    for (; id != 0; id = stacks_[id].caller) {
        if (roles_[stacks_[id].frame] >= least) {
            return as_site_[stacks_[id].frame];
        }
    }
    return site;
}

namespace {

/// Returns "+0x1f" for "solve(int)+0x1f": a recorded native function without debug information.
std::string offset_in(const std::string& function) {
    const size_t offset = function.rfind("+0x");
    return offset == function.npos ? std::string() : function.substr(offset);
}

}  // namespace

std::string describe_frame(const StackTable& table, FrameId id) {
    const Frame& frame = table.frame(id);
    const std::string& function = table.string(frame.function);
    const FrameRole role = table.role(id);
    if (!is_located(role)) {
        return function.empty() ? "??" : native_name(function);
    }
    const std::string_view file = base_name(table.string(frame.file));
    const std::string name = is_python(role) ? function : native_name(function) + offset_in(function);
    return frame.line > 0 ? fmt::format("{}:{} {}", file, frame.line, name) : fmt::format("{} {}", file, name);
}

}  // namespace tidemark
