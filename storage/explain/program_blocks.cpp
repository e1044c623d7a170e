// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/program_blocks.h"

#include <algorithm>
#include <array>
#include <span>

#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

constexpr std::array functions{"def "sv, "async def "sv};
constexpr std::array loops{"for "sv, "while "sv, "async for "sv};

bool begins_with_one_of(std::string_view code, std::span<const std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return code.starts_with(b); });
}

bool has_code(std::string_view line) {
    const std::string_view code = code_of(line);
    return !code.empty() && !code.starts_with('#');
}

/// Returns whether a line only ends brackets: it may be indented less than the block in which it is.
bool is_end_of_brackets(std::string_view line) {
    constexpr std::string_view closing = ")]}";
    return has_code(line) && closing.find(code_of(line).front()) != closing.npos;
}

bool leaves_block(std::string_view line) {
    constexpr std::array statements{"return"sv, "raise"sv, "continue"sv, "break"sv};
    const std::string_view code = code_of(line);
    return std::any_of(statements.begin(), statements.end(), [&](std::string_view s) {
        return code.starts_with(s) && (code.size() == s.size() || !is_part_of_name(code[s.size()]));
    });
}

/// Returns the first line of the statement that ends in the line.
SourcePlace first_line_of_statement(const Trace& trace, SourcePlace line) {
    constexpr std::string_view continued = "([{,\\+-*/%&|^<>=.@";
    for (auto before = source_place(trace, line.file, line.number - 1);
         before && !before->text.empty() && continued.find(before->text.back()) != continued.npos;
         before = source_place(trace, line.file, line.number - 1)) {
        line = *before;
    }
    return line;
}

/// Returns whether no statement continues behind the line.
bool is_end_of_statement(const Trace& trace, const SourcePlace& line) {
    constexpr std::string_view continuing = ")]}.,+-*/%&|^<>=";
    const std::string* after = trace.source_text.line(line.file, line.number + 1);
    const std::string_view next = after == nullptr ? "" : code_of(*after);
    return next.empty() || continuing.find(next.front()) == continuing.npos;
}

/// Returns whether a statement before the last one leaves the block that this line begins: a `break` in a function ends
/// a loop.
bool is_left_early(const SourcePlace& header, std::span<const SourcePlace> lines) {
    const bool is_function = !name_of_function(header.text).empty();
    return std::any_of(lines.begin(), lines.end(), [&](const SourcePlace& line) {
        return is_function ? code_of(line.text).starts_with("return") : leaves_block(line.text);
    });
}

}  // namespace

std::optional<SourcePlace> block_around(const Trace& trace, const SourcePlace& place) {
    const size_t indent = indent_of(place.text).size();
    int32_t number = place.number - 1;
    for (auto before = source_place(trace, place.file, number); before;
         before = source_place(trace, place.file, --number)) {
        const bool is_outside = indent_of(before->text).size() < indent;
        if (has_code(before->text) && is_outside && !is_end_of_brackets(before->text)) {
            return before;
        }
    }
    return std::nullopt;
}

std::optional<SourcePlace> function_around(const Trace& trace, const SourcePlace& place) {
    auto block = block_around(trace, place);
    while (block && !begins_with_one_of(code_of(block->text), functions)) {
        block = block_around(trace, *block);
    }
    return block;
}

std::string_view class_around(const Trace& trace, const SourcePlace& place) {
    constexpr std::string_view beginning = "class ";
    auto block = block_around(trace, place);
    while (block && !code_of(block->text).starts_with(beginning)) {
        block = block_around(trace, *block);
    }
    const std::string_view name = block ? code_of(block->text).substr(beginning.size()) : std::string_view();
    return name.substr(0, name.find_first_of("(: "));
}

std::optional<SourcePlace> loop_around(const Trace& trace, const SourcePlace& place) {
    auto block = block_around(trace, place);
    while (block && !begins_with_one_of(code_of(block->text), loops)) {
        block = begins_with_one_of(code_of(block->text), functions) ? std::nullopt : block_around(trace, *block);
    }
    return block;
}

std::vector<SourcePlace> lines_of_block(const Trace& trace, const SourcePlace& header) {
    const size_t indent = indent_of(header.text).size();
    std::vector<SourcePlace> lines;
    int32_t number = header.number + 1;
    for (auto line = source_place(trace, header.file, number); line;
         line = source_place(trace, header.file, ++number)) {
        if (!has_code(line->text)) {
            continue;
        }
        if (indent_of(line->text).size() <= indent && !is_end_of_brackets(line->text)) {
            break;
        }
        lines.push_back(*line);
    }
    return lines;
}

std::string_view name_of_function(std::string_view line) {
    constexpr std::string_view keyword = "def ";
    const std::string_view code = code_of(line);
    if (!begins_with_one_of(code, functions)) {
        return {};
    }
    const std::string_view name = code.substr(code.find(keyword) + keyword.size());
    return name.substr(0, name.find('('));
}

std::vector<SourcePlace> lines_with(const Trace& trace, std::string_view text) {
    std::vector<SourcePlace> found;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, line] : lines) {
            if (has_code(line) && find_begin_of_name(line, text) != std::string_view::npos) {
                found.push_back({file, number, line});
            }
        }
    }
    return found;
}

std::vector<SourcePlace> definitions_of(const Trace& trace, std::string_view function) {
    std::vector<SourcePlace> found = lines_with(trace, function);
    std::erase_if(found, [&](const SourcePlace& line) { return name_of_function(line.text) != function; });
    return found;
}

bool is_whole_statement(const Trace& trace, const SourcePlace& place) {
    return trace.source_text.line(place.file, place.number - 1) != nullptr &&
           first_line_of_statement(trace, place) == place && is_end_of_statement(trace, place);
}

std::string append_to_block_diff(const Trace& trace, const SourcePlace& header, std::string_view code,
                                 const std::vector<std::string_view>& names) {
    const std::vector<SourcePlace> lines = lines_of_block(trace, header);
    if (lines.empty() || !is_end_of_statement(trace, lines.back())) {
        return {};
    }
    const SourcePlace last = first_line_of_statement(trace, lines.back());
    const auto statement = std::find(lines.begin(), lines.end(), last);
    const auto before = static_cast<size_t>(statement - lines.begin());
    const bool is_last_nested = indent_of(last.text).size() != indent_of(lines.front().text).size();
    const bool is_exit = leaves_block(last.text);
    if (is_left_early(header, std::span(lines).first(before)) || (is_exit && is_last_nested)) {
        return {};
    }
    if (!is_exit) {
        return inserting_diff_after(trace, lines.back(), code, lines.front());
    }
    const bool uses_names = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::any_of(statement, lines.end(), [&](const SourcePlace& line) {
            return find_name(line.text, name) != std::string_view::npos;
        });
    });
    return uses_names ? std::string() : inserting_diff_before(trace, last, code);
}

}  // namespace tidemark
