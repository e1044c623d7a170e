// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads the text of a Python string from memory.
#pragma once

#include <string>

#include "recorder/frames/layouts.h"

namespace tidemark::frames {

/// Returns UTF-8, cut after 4096 characters; empty if the string is not compact.
std::string text_of(const Layout& layout, uint64_t string);

}  // namespace tidemark::frames
