// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A full-screen view in the terminal of standard input and output.
#pragma once

#include <chrono>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark::cli {

struct TerminalSize {
    int columns = 80, rows = 24;
};

/// Returns the size of the terminal; without one, that in COLUMNS and LINES, or 80 columns and 24 rows.
TerminalSize terminal_size();

/// Returns whether standard input and output are a terminal that can show a view.
bool is_terminal();
/// Returns whether output may have colors: to a terminal, and without NO_COLOR.
bool may_have_colors();

/// Shows a second screen without echo during its lifetime. The terminal becomes as before in every case: at the end, at
/// exceptions, at signals that end or suspend the process, and at failed assertions. One object at a time.
class FullScreen {
public:
    FullScreen();
    FullScreen(const FullScreen&) = delete;
    FullScreen& operator=(const FullScreen&) = delete;
    ~FullScreen();

    /// Replaces what the screen shows. `text` has lines that end with "\n", except for the last one.
    Status show(std::string_view text) const;
    /// Returns the next key. Returns 0 after `patience`, when the size changes, or when a signal arrives; -1 when there
    /// is no input any more.
    int next_key(std::chrono::milliseconds patience);
};

}  // namespace tidemark::cli
