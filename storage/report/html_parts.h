// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Parts that the HTML reports of a trace and of a job share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/text/words.h"

namespace tidemark {

/// Returns escaped HTML. Keeps numbers next to their units, and formats `names` between backticks as code.
std::string marked_up(std::string_view sentence);

std::string paragraphs(const std::vector<std::string>& texts);

/// Returns a heading and its items; "" without items.
std::string bullets(const std::string& heading, const std::vector<std::string>& items);

/// Returns the diff of a fix, or its code if there is none; "" without both.
std::string code_of_fix(std::string_view code, std::string_view diff);

/// Returns the sentences of a summary, of which the first is the heading of the page.
std::string summary_block(const std::vector<std::string>& sentences);

/// Returns the head of a table: first columns of text, then columns of numbers.
std::string table_head(const std::vector<std::string>& texts, const std::vector<std::string>& numbers);

/// Returns a whole page: one file that fetches nothing.
std::string html_page(const std::string& title, const std::string& body, const std::string& footer, const Words& words);

/// Returns an element for a page of others, whose style concerns only itself.
std::string html_fragment(const std::string& body);

}  // namespace tidemark
