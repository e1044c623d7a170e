// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tables to which other rows refer by id: strings, frames, stacks, streams, pools, origins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/read/row_source.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Reads the rows that were added since the last call. Requires consecutive ids, as writers assign them.
class Dictionaries {
public:
    /// Copies of texts take no more memory than a file of this size justifies.
    Status read(RowSource& source, Trace& trace, int64_t file_bytes);

    /// Returns the stack of an id in the file; nothing if there is none.
    std::optional<StackId> stack(int64_t id) const;
    /// Returns the string of an id in the file; empty if there is none. Valid until the next read.
    const std::string& text(const Trace& trace, int64_t id) const;
    /// Returns a copy of the string of an id in the file; empty if there is none. Returns nothing if all copies
    /// together take too much memory.
    std::optional<std::string> copy(const Trace& trace, int64_t id);

private:
    Status read_strings(RowSource& source, StackTable& table);
    Status read_frames(RowSource& source, StackTable& table);
    Status read_stacks(RowSource& source, StackTable& table);
    Status read_origins(RowSource& source, Trace& trace);
    std::optional<Origin> copy_origin(const Trace& trace, const std::array<int64_t, 6>& row);

    // Positions in the trace's tables by row id. Equal rows, which no writer creates, share one position.
    std::vector<StringId> strings_{0};
    std::vector<FrameId> frames_{0};
    std::vector<StackId> stacks_{0};
    std::vector<uint32_t> depths_{0};  ///< of the stacks, in frames
    using OriginRow = std::array<int64_t, 6>;
    int64_t copied_bytes_ = 0, most_copied_bytes_ = 0;
    std::vector<OriginRow> origins_;  ///< as read; a later row may add a module to an origin
};

}  // namespace tidemark
