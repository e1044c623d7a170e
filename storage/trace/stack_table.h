// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Interned strings, frames and stacks. Stacks share their callers: a stack is its innermost frame and the stack that
// called it. Id 0 means "none": the empty string, no frame, no stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/trace/frame_role.h"

namespace tidemark {

using StringId = uint32_t;
using FrameId = uint32_t;
using StackId = uint32_t;

struct Frame {
    StringId function = 0;
    StringId file = 0;
    int32_t line = 0;  ///< 0 if unknown
    bool operator==(const Frame&) const = default;
};

struct StackEntry {
    StackId caller = 0;  ///< always smaller than the entry's own id, so a walk upwards ends
    FrameId frame = 0;
    bool operator==(const StackEntry&) const = default;
};

/// Not thread-safe while interning. Can be shared between threads afterwards.
class StackTable {
public:
    StackTable();

    StringId intern(std::string_view text);
    FrameId intern(const Frame& frame);
    /// Returns the caller if there is no frame.
    StackId intern(const StackEntry& entry);
    /// Adds a stack. Frames are innermost first, as in PyTorch. Leaves out what is outside of most_frames_of_stack.
    StackId intern_stack(std::span<const FrameId> innermost_first);

    const std::string& string(StringId id) const { return strings_[id]; }
    const Frame& frame(FrameId id) const { return frames_[id]; }
    const StackEntry& stack(StackId id) const { return stacks_[id]; }
    uint32_t string_count() const { return static_cast<uint32_t>(strings_.size()); }
    uint32_t frame_count() const { return static_cast<uint32_t>(frames_.size()); }
    uint32_t stack_count() const { return static_cast<uint32_t>(stacks_.size()); }

    /// Returns the frames, innermost first.
    std::vector<FrameId> frames_of(StackId id) const;

    FrameRole role(FrameId id) const { return roles_[id]; }

    /// Returns the frame that names the site of an allocation: the innermost frame of the stack's most telling role
    /// (see FrameRole). 0 if the stack has no frames or nothing but plumbing. One native function is the same frame in
    /// all stacks, so the frame may differ in its line from that of the stack.
    FrameId site(StackId id) const { return sites_[id]; }

    /// Returns the innermost Python frame, which may be a library's; without any, the innermost operator or otherwise
    /// the site.
    FrameId innermost(StackId id) const;

    /// Returns whether the frame is one that `site` returns for some stacks.
    bool is_site(FrameId id, FrameId site) const { return site != 0 && as_site_[id] == site; }

private:
    void classify(FrameId id);
    FrameId site_of(const StackEntry& entry) const;

    struct FrameHash {
        size_t operator()(const Frame& f) const;
    };
    struct EntryHash {
        size_t operator()(const StackEntry& e) const;
    };

    std::vector<std::string> strings_;
    std::vector<Frame> frames_;
    std::vector<StackEntry> stacks_;
    std::vector<FrameRole> roles_;  // by frame
    std::vector<FrameId> as_site_;  // by frame; 0 for plumbing
    std::vector<FrameId> sites_;    // by stack
    std::unordered_map<std::string, FrameId> native_sites_;
    std::unordered_map<std::string, StringId> string_ids_;
    std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
    std::unordered_map<StackEntry, StackId, EntryHash> stack_ids_;
};

/// Returns "train.py:42 forward" for Python, and the native_name of other functions.
std::string describe_frame(const StackTable& table, FrameId id);

}  // namespace tidemark
