// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Prints results to stdout, everything else to stderr. All output of the command uses these functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/base/utf8.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Writes text to stdout. Escapes hidden characters except line breaks, because names come from untrusted files; names
/// themselves must be passed through visible_text(), which escapes line breaks as well. A closed pipe (| head) is no
/// error. Error (environment): a full disk.
Status print(std::string_view text);
/// Writes text to stdout unchanged. Requires that its only control characters are Tidemark's own colors.
Status print_clean(std::string_view text);
/// Returns indented JSON with a final newline. Invalid UTF-8 becomes U+FFFD; hidden characters become escapes.
std::string json_text(const nlohmann::ordered_json& json);
/// Prints json_text().
Status print_json(const nlohmann::ordered_json& json);

/// Prints a remark about the result: "note: ..." on stderr.
void print_note(const Words& words, std::string_view sentence);
void print_error(const Error& error, const Words& words);
/// Prints lines, which have their ends, without a prefix on stderr.
void print_message(std::string_view lines);

/// Shows a progress bar on stderr during its lifetime if stderr is a terminal. The destructor erases it.
class ProgressBar {
public:
    ProgressBar(Progress& progress, const std::string& title);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

private:
    Progress& progress_;
    std::string title_;
};

}  // namespace tidemark::cli
