// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Text inside Markdown documents.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// Escapes the syntax of Markdown and HTML outside of `code`, because names come from untrusted files.
std::string markdown_escaped(std::string_view text);

}  // namespace tidemark
