// Text in columns: how wide it is in a terminal, where it may be broken. Names come from files that strangers send.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// On one line and harmless: control characters become '?', bytes that are not UTF-8 become U+FFFD.
std::string plain_text(std::string_view text);
/// The same, with line ends kept: for lines of code.
std::string plain_lines(std::string_view text);

/// Columns in a terminal: two for Chinese characters.
size_t display_width(std::string_view text);
/// Spaces added at the end, up to `width` columns.
std::string pad_right(std::string text, size_t width);
/// No break between a number and its unit: "484 KiB", "13 %" with U+00A0.
std::string with_firm_units(std::string_view text);
/// Lines of at most `width` columns, broken at spaces and beside Chinese characters; at least one.
std::vector<std::string> wrap(std::string_view text, size_t width);
std::vector<std::string> split_lines(std::string_view text);

}  // namespace tidemark
