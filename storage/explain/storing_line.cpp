// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/storing_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "storage/explain/python_code.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/base_name.h"
#include "storage/trace/limits.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

bool is_part_of_name(char c) { return is_letter(c) || is_digit(c); }

/// How code names the container.
struct Container {
    std::string_view name;  ///< "vectors" of `self.vectors`
    bool is_attribute = false;
    std::string owner;      ///< of an attribute: its class
    std::string_view file;  ///< of a variable; "": unknown
};

std::optional<Container> container_of(const GraphTables& tables, const std::vector<PathLink>& path) {
    for (size_t i = container_end(path); i-- > 0;) {
        const std::string_view name = tables.texts[path[i].name];
        std::string owner = owner_of(tables, path[i]);
        const bool is_attribute = path[i].kind == PathLinkKind::attribute && !owner.empty();
        const bool is_variable = path[i].kind == PathLinkKind::local || path[i].kind == PathLinkKind::global ||
                                 path[i].kind == PathLinkKind::closure;
        const std::string_view in_code = is_attribute ? name.substr(0, name.find(' ')) : name;
        if ((is_variable || is_attribute) && !in_code.empty() && is_letter(in_code.front())) {
            return Container{in_code, is_attribute, std::move(owner), tables.texts[path[i].file]};
        }
    }
    return std::nullopt;
}

/// Returns whether code that follows the name of a container puts something into it.
bool stores(std::string_view rest) {
    constexpr std::array calls{".append("sv, ".appendleft("sv, ".add("sv,  ".extend("sv,
                               ".insert("sv, ".put("sv,        ".push("sv, ".setdefault("sv};
    bool has_element = false;
    while (rest.starts_with('[')) {
        const size_t brackets = length_of_brackets(rest);
        if (brackets == 0) {
            return false;
        }
        rest.remove_prefix(brackets);
        has_element = true;
    }
    return std::any_of(calls.begin(), calls.end(), [&](std::string_view call) { return rest.starts_with(call); }) ||
           rest.starts_with(" += ") || (has_element && rest.starts_with(" = "));
}

bool stores_into(std::string_view code, const Container& container) {
    const std::string_view name = container.name;
    for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
        const char before = at == 0 ? ' ' : code[at - 1];
        const std::string_view rest = code.substr(at + name.size());
        const bool is_name = !is_part_of_name(before) && (rest.empty() || !is_part_of_name(rest.front()));
        if (is_name && (before == '.') == container.is_attribute && stores(rest)) {
            return true;
        }
    }
    return false;
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

/// A recorded line.
struct Line {
    std::string_view file;
    int32_t number = 0;
    std::string_view code;  ///< without its indentation
};

std::optional<Line> find_storing_line(const Trace& trace, const Container& container) {
    const std::set<std::string_view> files = files_of(trace.stacks, container);
    std::optional<Line> found;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, text] : lines) {
            const std::string_view code = code_of(text);
            if (!files.contains(file) || code.starts_with('#') || text.size() >= longest_source_line ||
                !stores_into(code, container)) {
                continue;
            }
            if (found) {
                return std::nullopt;
            }
            found = Line{file, number, code};
        }
    }
    return found;
}

}  // namespace

void add_storing_line(Finding& finding, const AnalysisContext& context, const std::vector<PathLink>& path,
                      const Words& words) {
    const bool is_container = container_end(path) < path.size();
    const auto container = is_container ? container_of(context.graph()->tables(), path) : std::nullopt;
    const auto line = container ? find_storing_line(context.trace(), *container) : std::nullopt;
    if (!line) {
        return;
    }
    const StackTable& stacks = context.trace().stacks;
    const FrameId site = stacks.site(finding.stack);
    if (site == 0 || stacks.frame(site).line != line->number || stacks.string(stacks.frame(site).file) != line->file) {
        finding.text.push_back(words("{place} stores them: `{code}`.",
                                     with("place", fmt::format("{}:{}", base_name(line->file), line->number)),
                                     with("code", std::string(line->code))));
    }
}

}  // namespace tidemark
