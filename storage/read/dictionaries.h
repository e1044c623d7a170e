// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What other rows of a trace refer to by id: strings, frames, stacks, streams, pools, origins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/read/row_source.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Reads into a trace what was added since the last time. Ids must be dense, as a writer gives them.
class Dictionaries {
public:
    Status read(RowSource& source, Trace& trace);

    /// Of a stack column; nothing if there is no such stack.
    std::optional<StackId> stack(int64_t id) const;
    /// Of a string column; empty if there is no such string.
    const std::string& text(const Trace& trace, int64_t id) const;

private:
    Status read_strings(RowSource& source, StackTable& table);
    Status read_frames(RowSource& source, StackTable& table);
    Status read_stacks(RowSource& source, StackTable& table);
    Status read_origins(RowSource& source, Trace& trace);

    // Places in the trace's table by row id: equal rows, which no writer makes, share one.
    std::vector<StringId> strings_{0};
    std::vector<FrameId> frames_{0};
    std::vector<StackId> stacks_{0};
    using OriginRow = std::array<int64_t, 6>;
    std::vector<OriginRow> origins_;  ///< as read: an origin may gain a module
};

}  // namespace tidemark
