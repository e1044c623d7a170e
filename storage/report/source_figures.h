// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The bytes of the program's lines at the explained point in time, for reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/attribution/line_memory.h"
#include "storage/report/report.h"

namespace tidemark {

class SourceFigures {
public:
    /// Visits each allocation once. Refers to the trace.
    explicit SourceFigures(const ReportInput& reported);

    /// Returns whether any line of the file is on the stack of an allocation.
    bool has_file(std::string_view file) const { return find(file) != nullptr; }
    /// Returns nullptr if the line is on no stack.
    const LineBytes* bytes_of(std::string_view file, int32_t line) const;

    struct Row {
        std::string place;  ///< "train.py:18"
        std::string code;   ///< the line without its indentation; empty if it was not recorded
        LineBytes bytes;
    };
    /// Returns the lines of the user's own code with the most memory: leaked, then active, then at the peak.
    std::vector<Row> top_lines() const;

private:
    const FileMemory* find(std::string_view file) const;

    const Trace& trace_;
    SourceMemory memory_;
};

}  // namespace tidemark
