// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Parts that all JSON output shares.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "storage/trace/stack_table.h"

namespace tidemark {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// Returns {"function": "forward", "file": "train.py", "line": 42}.
nlohmann::ordered_json frame_json(const StackTable& stacks, FrameId frame);
/// Returns the frames, innermost first.
nlohmann::ordered_json frames_json(const StackTable& stacks, StackId stack);

}  // namespace tidemark
