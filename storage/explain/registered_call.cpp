// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/registered_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"
#include "storage/explain/value_parts.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace python_code;

/// An argument of a functools.partial, as the recorder names it.
struct PartialArgument {
    std::string_view argument;  ///< "1" or "mask"
    std::string_view function;  ///< "draw"; "method" for any bound method
};

/// Returns the parts of "argument 1 of partial(draw)"; nothing for other links.
std::optional<PartialArgument> partial_argument(std::string_view link) {
    constexpr std::string_view beginning = "argument ", middle = " of partial(";
    const size_t at = link.find(middle);
    if (!link.starts_with(beginning) || at == link.npos || !link.ends_with(')')) {
        return std::nullopt;
    }
    const std::string_view function = link.substr(at + middle.size(), link.size() - at - middle.size() - 1);
    return PartialArgument{link.substr(beginning.size(), at - beginning.size()), plain_name(function)};
}

/// Returns the arguments of the partial() in the line; none if it has none, or continues on other lines.
std::vector<std::string_view> arguments_of_partial(std::string_view line) {
    constexpr std::string_view call = "partial(";
    const size_t at = find_begin_of_name(line, call);
    const size_t open = at + call.size() - 1;
    const size_t length = at == line.npos ? 0 : length_of_brackets(line.substr(open));
    return length == 0 ? std::vector<std::string_view>() : split_arguments(line.substr(open + 1, length - 2));
}

/// Returns the argument's code; "" if it is not written.
std::string_view code_of_argument(std::string_view line, std::string_view name) {
    const std::vector<std::string_view> arguments = arguments_of_partial(line);
    size_t position = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
    if (error == std::errc()) {
        return position + 1 < arguments.size() ? arguments[position + 1] : std::string_view();
    }
    const std::string keyword = fmt::format("{}=", name);
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](std::string_view argument) { return argument.starts_with(keyword); });
    return found == arguments.end() ? std::string_view() : found->substr(keyword.size());
}

std::vector<SourcePlace> lines_with_partial(const Trace& trace, std::string_view function) {
    constexpr std::string_view any_method = "method";
    std::vector<SourcePlace> lines = lines_with(trace, "partial(");
    std::erase_if(lines, [&](const SourcePlace& line) {
        const auto arguments = arguments_of_partial(line.text);
        return arguments.empty() || (function != any_method && plain_name(arguments.front()) != function);
    });
    return lines;
}

}  // namespace

std::optional<RegisteredCall> registered_call(const AnalysisContext& context, const std::vector<PathLink>& path) {
    const GraphTables& tables = context.graph()->tables();
    const auto link = std::find_if(path.begin(), path.end(), [&](const PathLink& candidate) {
        return candidate.kind == PathLinkKind::attribute && partial_argument(tables.texts[candidate.name]);
    });
    if (link == path.end()) {
        return std::nullopt;
    }
    const PartialArgument argument = *partial_argument(tables.texts[link->name]);
    const std::vector<SourcePlace> lines = lines_with_partial(context.trace(), argument.function);
    if (lines.size() != 1) {
        return std::nullopt;
    }
    RegisteredCall call{lines.front(), {}};
    const std::string_view code = code_of_argument(call.place.text, argument.argument);
    const auto end = static_cast<size_t>(link - path.begin()) + 1;
    const std::vector<ValuePart> parts = parts_behind(context, std::span(path).first(end), end);
    if (const auto copied = with_copies(code, tables, parts, GpuLibrary::pytorch)) {
        call.diff = replacing_diff(context.trace(), call.place, code, *copied);
    }
    return call;
}

}  // namespace tidemark
