// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Text inside Markdown documents.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// Escapes the syntax of Markdown and HTML outside of `code`, because names come from untrusted files.
std::string markdown_escaped(std::string_view text);

/// Returns the code inside a fence that no line of the code can end, for an item of a list.
std::string fenced(std::string_view code, std::string_view language);

/// Returns a block of the diff of a fix, or of its code if there is none; "" without both.
std::string code_of_fix_in_markdown(std::string_view code, std::string_view diff);

}  // namespace tidemark
