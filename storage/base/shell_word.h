// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Commands that a user can copy into a shell.
#pragma once

#include <string>

namespace tidemark {

/// Returns the text as one word of a shell command, in quotes if it needs them.
std::string shell_word(const std::string& text);

}  // namespace tidemark
