// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/exception_handler.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"

namespace tidemark {
namespace {

using namespace python_code;

/// Returns "error" of "except ValueError as error:"; "" for other code.
std::string_view name_of_handler(std::string_view code) {
    constexpr std::string_view keyword = "except ", as = " as ";
    const size_t at = code.find(as);
    if (!code.starts_with(keyword) || at == code.npos || !code.ends_with(':')) {
        return {};
    }
    const std::string_view name = code.substr(at + as.size(), code.size() - at - as.size() - 1);
    return is_name(name) ? name : std::string_view();
}

/// Adds the handlers with a name that follow the `try`.
void add_handlers(std::vector<ExceptionHandler>& handlers, const Trace& trace, const SourcePlace& block) {
    const std::string_view indent = indent_of(block.text);
    std::optional<SourcePlace> line = block;
    while (line && indent_of(line->text) == indent) {
        const std::string_view name = name_of_handler(code_of(line->text));
        const auto is_same = [&](const ExceptionHandler& other) { return other.place == *line; };
        if (!name.empty() && std::none_of(handlers.begin(), handlers.end(), is_same)) {
            handlers.push_back({*line, name});
        }
        const std::vector<SourcePlace> inside = lines_of_block(trace, *line);
        const bool is_part = *line == block || code_of(line->text).starts_with("except");
        line = inside.empty() || !is_part ? std::nullopt : source_place(trace, line->file, inside.back().number + 1);
    }
}

}  // namespace

std::optional<ExceptionHandler> handler_around(const Trace& trace, StackId stack) {
    std::vector<ExceptionHandler> handlers;
    for (const FrameId id : trace.stacks.frames_of(stack)) {
        const auto line = source_place(trace, id);
        for (auto block = line ? block_around(trace, *line) : std::nullopt;
             block && name_of_function(block->text).empty(); block = block_around(trace, *block)) {
            if (code_of(block->text) == "try:") {
                add_handlers(handlers, trace, *block);
            }
        }
    }
    return handlers.size() == 1 ? std::optional(handlers.front()) : std::nullopt;
}

std::string remove_traceback_diff(const Trace& trace, const ExceptionHandler& handler) {
    const std::vector<SourcePlace> lines = lines_of_block(trace, handler.place);
    const bool raises = std::any_of(lines.begin(), lines.end(), [](const SourcePlace& line) {
        return find_name(line.text, "raise") != std::string_view::npos;
    });
    return raises ? std::string()
                  : append_to_block_diff(trace, handler.place, fmt::format("{}.__traceback__ = None", handler.name));
}

}  // namespace tidemark
