// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/container_lines.h"

#include <algorithm>
#include <array>
#include <set>

#include "storage/explain/program_blocks.h"
#include "storage/explain/python_code.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/limits.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

/// Removes "[key]" and further brackets from the begin of code. Returns whether there was one; `code` is empty if a
/// bracket does not end.
bool take_brackets(std::string_view& code) {
    bool has_any = false;
    while (code.starts_with('[')) {
        const size_t brackets = length_of_brackets(code);
        code.remove_prefix(brackets == 0 ? code.size() : brackets);
        has_any = true;
    }
    return has_any;
}

bool begins_with_one_of(std::string_view code, std::span<const std::string_view> calls) {
    return std::any_of(calls.begin(), calls.end(), [&](std::string_view call) { return code.starts_with(call); });
}

/// What code does with a container, by what is before and behind its name.
using Use = bool (*)(std::string_view before, std::string_view behind);

/// Returns whether a call has only a constant, which ends the reading of a queue: "queue.put(None)".
bool stores_constant(std::string_view behind) {
    constexpr std::array constants{"(None)"sv, "(True)"sv, "(False)"sv, "()"sv};
    const size_t open = behind.find('(');
    return open != behind.npos && begins_with_one_of(behind.substr(open), constants);
}

bool stores(std::string_view, std::string_view behind) {
    constexpr std::array calls{".append("sv, ".appendleft("sv, ".add("sv,  ".extend("sv,    ".insert("sv,
                               ".put("sv,    ".put_nowait("sv, ".push("sv, ".setdefault("sv};
    const bool has_element = take_brackets(behind);
    return (begins_with_one_of(behind, calls) && !stores_constant(behind)) || behind.starts_with(" += ") ||
           (has_element && behind.starts_with(" = "));
}

bool removes(std::string_view before, std::string_view behind) {
    constexpr std::array calls{".pop("sv, ".popitem("sv, ".popleft("sv, ".remove("sv, ".discard("sv, ".clear("sv};
    const size_t expression = before.find_last_of(' ') + 1;  // of "del self.": 4
    const bool is_deleted = before.substr(0, expression).ends_with("del ");
    return begins_with_one_of(behind, calls) || (is_deleted && behind.starts_with('['));
}

bool assigns(std::string_view before, std::string_view behind) {
    return behind.starts_with(" = ") && code_of(before).find(' ') == before.npos;
}

/// Returns the position in the line behind the container's name where it is used so; npos if it is not.
size_t end_of_use(std::string_view line, const Container& container, Use use) {
    for (size_t at = find_name(line, container.name); at != line.npos; at = find_name(line, container.name, at + 1)) {
        const bool is_attribute = at > 0 && line[at - 1] == '.';
        const size_t end = at + container.name.size();
        if (is_attribute == container.is_attribute && use(line.substr(0, at), line.substr(end))) {
            return end;
        }
    }
    return line.npos;
}

/// Returns the files of the program in which code may use the container: that of the variable, or those with methods of
/// the class. Methods that allocate nothing are unknown: then all files.
std::set<std::string_view> files_of(const StackTable& stacks, const Container& container) {
    std::set<std::string_view> all, own;
    for (FrameId id = 0; id < stacks.frame_count(); ++id) {
        const std::string_view file = stacks.string(stacks.frame(id).file);
        if (stacks.role(id) == FrameRole::user) {
            all.insert(file);
            const bool is_own = container.is_attribute
                                    ? is_method_of(stacks.string(stacks.frame(id).function), container.owner)
                                    : file == container.file;
            if (is_own) {
                own.insert(file);
            }
        }
    }
    return own.empty() ? all : own;
}

/// Returns whether the line is in the function of the variable, or in the class whose attribute the container is. Other
/// code may use the same name for something else.
bool is_in_scope(const Trace& trace, const Container& container, const SourcePlace& place) {
    if (container.is_attribute) {
        return class_around(trace, place) == container.owner;
    }
    const auto function = function_around(trace, place);
    return function && name_of_function(function->text) == plain_name(container.function);
}

/// Returns the recorded lines that use the container so: those in its scope, if there are some.
std::vector<ContainerLine> find_lines(const Trace& trace, const Container& container, Use use) {
    const std::set<std::string_view> files = files_of(trace.stacks, container);
    std::vector<ContainerLine> all, own;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, text] : lines) {
            const bool is_code = files.contains(file) && !code_of(text).starts_with('#');
            const size_t end = is_code && text.size() < longest_source_line ? end_of_use(text, container, use)
                                                                            : std::string_view::npos;
            if (end != std::string_view::npos) {
                all.push_back({{file, number, text}, end});
                if (is_in_scope(trace, container, all.back().place)) {
                    own.push_back(all.back());
                }
            }
        }
    }
    return own.empty() ? all : own;
}

}  // namespace

std::optional<Container> container_of(const GraphTables& tables, std::span<const PathLink> links) {
    for (size_t i = links.size(); i-- > 0;) {
        const std::string_view name = tables.texts[links[i].name];
        std::string owner = owner_of(tables, links[i]);
        const bool is_attribute = links[i].kind == PathLinkKind::attribute && !owner.empty();
        const bool is_variable = links[i].kind == PathLinkKind::local || links[i].kind == PathLinkKind::global ||
                                 links[i].kind == PathLinkKind::closure;
        const std::string_view in_code = is_attribute ? name.substr(0, name.find(' ')) : name;
        if ((is_variable || is_attribute) && !in_code.empty() && is_letter(in_code.front())) {
            return Container{in_code, is_attribute, std::move(owner), tables.texts[links[i].file],
                             tables.texts[links[i].function]};
        }
    }
    return std::nullopt;
}

std::vector<ContainerLine> lines_that_store(const Trace& trace, const Container& container) {
    return find_lines(trace, container, stores);
}

std::vector<ContainerLine> lines_that_remove(const Trace& trace, const Container& container) {
    return find_lines(trace, container, removes);
}

std::vector<ContainerLine> lines_that_assign(const Trace& trace, const Container& container) {
    return find_lines(trace, container, assigns);
}

}  // namespace tidemark
