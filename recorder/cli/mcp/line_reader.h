// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads lines from a descriptor, with a limit for what others may send.
#pragma once

#include <string>

#include "storage/base/progress.h"

namespace tidemark::cli {

class LineReader {
public:
    /// Does not own the descriptor. `most`: bytes of a line.
    LineReader(int descriptor, size_t most) : descriptor_(descriptor), most_(most) {}

    enum class Outcome { line, too_long, end };
    /// Waits for the next line, and puts it without its end into `line`. The rest of a line that is too long is
    /// skipped. A canceled wait is the end.
    Outcome next(std::string& line, const Progress& progress);

private:
    /// Returns false at the end.
    bool read_more(const Progress& progress);

    const int descriptor_;
    const size_t most_;
    std::string unread_;
    bool has_ended_ = false;
};

}  // namespace tidemark::cli
