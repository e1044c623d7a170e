// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Interned strings, frames and stacks. Stacks share their callers: a stack is its innermost frame and the
// stack that called it. Id 0 is always "nothing": the empty string, no frame, no stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemark {

using StringId = uint32_t;
using FrameId = uint32_t;
using StackId = uint32_t;

struct Frame {
    StringId function = 0;
    StringId file = 0;
    int32_t line = 0;
    bool operator==(const Frame&) const = default;
};

struct StackEntry {
    StackId caller = 0;  ///< always smaller than the entry's own id, so walking up ends
    FrameId frame = 0;
    bool operator==(const StackEntry&) const = default;
};

/// Not thread-safe while interning; freely shared once it is filled.
class StackTable {
public:
    StackTable();

    StringId intern(std::string_view text);
    FrameId intern(const Frame& frame);
    StackId intern(const StackEntry& entry);
    /// Frames innermost first, as PyTorch lists them.
    StackId intern_stack(std::span<const FrameId> innermost_first);

    const std::string& string(StringId id) const { return strings_[id]; }
    const Frame& frame(FrameId id) const { return frames_[id]; }
    const StackEntry& stack(StackId id) const { return stacks_[id]; }
    uint32_t string_count() const { return static_cast<uint32_t>(strings_.size()); }
    uint32_t frame_count() const { return static_cast<uint32_t>(frames_.size()); }
    uint32_t stack_count() const { return static_cast<uint32_t>(stacks_.size()); }

    /// Innermost first.
    std::vector<FrameId> frames_of(StackId id) const;

    /// The frame people mean by "my line": the innermost one outside libraries, or the innermost one when all
    /// are library code; 0 for an empty stack.
    FrameId user_frame(StackId id) const;

private:
    struct FrameHash {
        size_t operator()(const Frame& f) const;
    };
    struct EntryHash {
        size_t operator()(const StackEntry& e) const;
    };

    std::vector<std::string> strings_;
    std::vector<Frame> frames_;
    std::vector<StackEntry> stacks_;
    std::unordered_map<std::string, StringId> string_ids_;
    std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
    std::unordered_map<StackEntry, StackId, EntryHash> stack_ids_;
};

/// Whether a source file belongs to a library rather than to the user: site-packages, the standard library,
/// generated or native frames.
bool is_library_file(std::string_view file);

/// "train.py:42 forward"
std::string describe_frame(const StackTable& table, FrameId id);

}  // namespace tidemark
