// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What repeated steps add to the columns of a window on the wall clock.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "storage/replay/repeated_step.h"
#include "storage/timeline/columns.h"

namespace tidemark {

/// Keeps references to all three.
class RepeatedColumns {
public:
    RepeatedColumns(const Trace& trace, const DeviceHistory& device, const Curves& curves)
        : trace_(trace), device_(device), curves_(curves) {}

    /// Adds the repeated steps between two times (ns since trace start) to a column that has its states. A part of a
    /// step has the curve of the step that it repeats; of whole steps, the highest bytes are known.
    void add(Column& column, int64_t from, int64_t to);

private:
    bool add_parts(Column& column, const RepeatedSteps& steps, int64_t from, int64_t to);
    void add_part(Column& column, const RepeatedStep& step, int64_t from, int64_t to);
    void show_highest(Column& column, size_t row);

    const Trace& trace_;
    const DeviceHistory& device_;
    const Curves& curves_;
    int64_t highest_active_ = 0;                             ///< of the column so far, bytes
    std::optional<size_t> highest_row_;                      ///< which has it, unless a state or a part of a step has
    std::optional<std::pair<size_t, TimePoint>> row_shown_;  ///< the latest
};

}  // namespace tidemark
