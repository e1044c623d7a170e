// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Functions, classes and loops around recorded lines of the program, by their indentation. A gap in the recorded lines
// ends the search, so that nothing is guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/source_change.h"

namespace tidemark {

/// Returns the next line outwards that begins a block in which the line is: "for x in data:"; nothing if it was not
/// recorded.
std::optional<SourcePlace> block_around(const Trace& trace, const SourcePlace& place);
/// Returns the line that begins the innermost function around the line; nothing if it was not recorded, or if there is
/// none.
std::optional<SourcePlace> function_around(const Trace& trace, const SourcePlace& place);
/// Returns the name of the innermost class around the line; "" if there is none or it was not recorded.
std::string_view class_around(const Trace& trace, const SourcePlace& place);
/// Returns the line that begins the innermost loop around the line in its function.
std::optional<SourcePlace> loop_around(const Trace& trace, const SourcePlace& place);

/// Returns the recorded lines with code of the block that this line begins, also of blocks in it.
std::vector<SourcePlace> lines_of_block(const Trace& trace, const SourcePlace& header);
/// Returns "run" of the line "def run(self):"; "" for other lines.
std::string_view name_of_function(std::string_view line);
/// Returns the recorded lines that define a function or method of this name.
std::vector<SourcePlace> definitions_of(const Trace& trace, std::string_view function);
/// Returns the recorded lines that have the text, where no longer name ends in its begin: "metric.reset(". Comments
/// have none.
std::vector<SourcePlace> lines_with(const Trace& trace, std::string_view text);
/// Returns whether the statement neither begins before the line nor continues after it. Code of the lines around it
/// that was not recorded may do either.
bool is_whole_statement(const Trace& trace, const SourcePlace& place);

/// Returns the diff that adds lines of code as the last ones of the block that this line begins, before its `return`
/// or another statement that leaves it; "" if that statement uses one of the names, or if other statements leave the
/// block as well.
std::string append_to_block_diff(const Trace& trace, const SourcePlace& header, std::string_view code,
                                 const std::vector<std::string_view>& names = {});

}  // namespace tidemark
