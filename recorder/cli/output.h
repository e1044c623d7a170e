// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Everything the command prints goes through here: results to stdout, the rest to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Writes text to stdout. A reader that has gone away (| head) is fine; a full disk is an error.
/// Control characters are replaced: names come from files that strangers send.
Status print(std::string_view text);
/// The same for text whose only control characters are its own colors.
Status print_clean(std::string_view text);
/// As print, for JSON, indented, with a final newline. Broken UTF-8 becomes U+FFFD.
Status print_json(const nlohmann::ordered_json& json);

/// Prints a remark about the result: "note: ..." on stderr.
void print_note(const Words& words, std::string_view sentence);
void print_error(const Error& error, const Words& words);
/// Prints lines without a prefix on stderr.
void print_message(std::string_view text);

/// The text with control characters replaced, newlines included: for names inside a line.
std::string one_line(std::string_view text);

/// Shows a progress bar on stderr while it lives, if stderr is a terminal; erases it at the end.
class ProgressBar {
public:
    ProgressBar(Progress& progress, std::string title);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

private:
    Progress& progress_;
    std::string title_;
};

}  // namespace tidemark::cli
