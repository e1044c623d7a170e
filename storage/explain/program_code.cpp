// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/program_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "storage/base/utf8.h"
#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

/// Lines further from the line of a stack are rarely about the same tensor.
constexpr int32_t nearby = 20;

bool begins_function(std::string_view code) {
    constexpr std::array beginnings{"def "sv, "async def "sv, "class "sv};
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return code.starts_with(b); });
}

bool passes(std::string_view code, std::string_view name) {
    const size_t at = code.starts_with('#') ? code.npos : find_begin_of_name(code, fmt::format("{}=", name));
    const std::string_view value = at == code.npos ? "" : code.substr(at + name.size() + 1);
    return at != code.npos && !value.starts_with('=') && !value.starts_with("None");
}

/// Returns "train.py:12" if exactly one recorded line has the text, as a name of its own; "" otherwise.
std::string place_of(const Trace& trace, std::string_view text) {
    const std::vector<SourcePlace> lines = lines_with(trace, text);
    return lines.size() == 1 && visible_text(lines.front().file) == lines.front().file ? name_of(lines.front())
                                                                                       : std::string();
}

/// Returns the length of the name at the end of a text.
size_t length_of_last_name(std::string_view text) {
    const auto is_other = [](char c) { return !is_part_of_name(c); };
    return static_cast<size_t>(std::find_if(text.rbegin(), text.rend(), is_other) - text.rbegin());
}

std::string with_place(const Trace& trace, std::string_view line) {
    constexpr std::string_view call = "(...", method = "()";
    std::string_view separator = "  # ";
    std::string place;
    if (const size_t end = line.find(call); end != line.npos && length_of_last_name(line.substr(0, end)) == end) {
        place = place_of(trace, line.substr(0, end + 1));
    } else if (line.find('#') != line.npos && line.ends_with(method)) {
        const std::string_view before = line.substr(0, line.size() - method.size());
        place = place_of(trace, fmt::format("def {}(", before.substr(before.size() - length_of_last_name(before))));
        separator = ", ";
    }
    return place.empty() ? std::string(line) : fmt::format("{}{}{}", line, separator, place);
}

}  // namespace

std::vector<SourceLine> lines_of_function(const SourceText& source, std::string_view file, int32_t line) {
    std::vector<SourceLine> lines = source.around(file, line, nearby).lines;
    const auto is_next = [&](const SourceLine& l) { return l.number > line && begins_function(code_of(l.text)); };
    lines.erase(std::find_if(lines.begin(), lines.end(), is_next), lines.end());
    const auto is_own = [&](const SourceLine& l) { return l.number < line && begins_function(code_of(l.text)); };
    lines.erase(lines.begin(), std::find_if(lines.rbegin(), lines.rend(), is_own).base());
    return lines;
}

bool passes_argument(const Trace& trace, StackId stack, std::string_view name) {
    const std::vector<FrameId> frames = trace.stacks.frames_of(stack);
    return std::any_of(frames.begin(), frames.end(), [&](FrameId id) {
        const Frame& frame = trace.stacks.frame(id);
        const auto lines = lines_of_function(trace.source_text, trace.stacks.string(frame.file), frame.line);
        return std::any_of(lines.begin(), lines.end(),
                           [&](const SourceLine& line) { return passes(code_of(line.text), name); });
    });
}

std::string with_places(const Trace& trace, std::string_view code) {
    std::string placed;
    for (size_t begin = 0; begin <= code.size();) {
        const size_t end = std::min(code.find('\n', begin), code.size());
        placed += (begin == 0 ? "" : "\n") + with_place(trace, code.substr(begin, end - begin));
        begin = end + 1;
    }
    return placed;
}

}  // namespace tidemark
