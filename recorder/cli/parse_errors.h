// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What CLI11 says about a wrong command line, as sentences of ours.
#pragma once

#include <string>
#include <vector>

#include "storage/base/sentence.h"

namespace tidemark::cli {

/// Returns the sentence for the text of a CLI::ParseError. A text of an unknown form is returned as it is. What our own
/// validators say in it is translated already.
SentenceValue parse_error_sentence(const std::string& text);

/// Returns the sentence for a word that is no command; it names the command that is spelled like it.
Sentence unknown_command_sentence(const std::string& word, const std::vector<std::string>& commands);

}  // namespace tidemark::cli
