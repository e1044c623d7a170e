// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What CLI11 says about a wrong command line, as sentences of ours.
#pragma once

#include <string>

#include "storage/base/sentence.h"

namespace tidemark::cli {

/// Returns the sentence for the text of a CLI::ParseError. A text of an unknown form is returned as it is. What our own
/// validators say in it is translated already.
SentenceValue parse_error_sentence(const std::string& text);

}  // namespace tidemark::cli
