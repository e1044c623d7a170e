// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/storing_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
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

bool stores(std::string_view, std::string_view behind) {
    constexpr std::array calls{".append("sv, ".appendleft("sv, ".add("sv,  ".extend("sv,
                               ".insert("sv, ".put("sv,        ".push("sv, ".setdefault("sv};
    const bool has_element = take_brackets(behind);
    return begins_with_one_of(behind, calls) || behind.starts_with(" += ") ||
           (has_element && behind.starts_with(" = "));
}

bool removes(std::string_view before, std::string_view behind) {
    constexpr std::array calls{".pop("sv, ".popitem("sv, ".popleft("sv, ".remove("sv, ".discard("sv, ".clear("sv};
    const size_t expression = before.find_last_of(' ') + 1;  // of "del self.": 4
    const bool is_deleted = before.substr(0, expression).ends_with("del ");
    return begins_with_one_of(behind, calls) || (is_deleted && behind.starts_with('['));
}

bool uses(std::string_view code, const Container& container, Use use) {
    const std::string_view name = container.name;
    for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
        const char before = at == 0 ? ' ' : code[at - 1];
        const std::string_view behind = code.substr(at + name.size());
        const bool is_name = !is_part_of_name(before) && (behind.empty() || !is_part_of_name(behind.front()));
        if (is_name && (before == '.') == container.is_attribute && use(code.substr(0, at), behind)) {
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

/// Returns the recorded lines that use the container so.
std::vector<Line> find_lines(const Trace& trace, const Container& container, Use use) {
    const std::set<std::string_view> files = files_of(trace.stacks, container);
    std::vector<Line> found;
    for (const auto& [file, lines] : trace.source_text.files()) {
        for (const auto& [number, text] : lines) {
            const std::string_view code = code_of(text);
            if (files.contains(file) && !code.starts_with('#') && text.size() < longest_source_line &&
                uses(code, container, use)) {
                found.push_back({file, number, code});
            }
        }
    }
    return found;
}

/// Returns the name in the brackets behind the container's name; "" if it has none, or other code in them.
std::string_view name_in_brackets(std::string_view code, std::string_view container) {
    const size_t begin = code.find(fmt::format("{}[", container));
    if (begin == code.npos) {
        return {};
    }
    const std::string_view behind = code.substr(begin + container.size() + 1);
    const std::string_view name = behind.substr(0, behind.find(']'));
    const bool is_name = !name.empty() && is_letter(name.front()) && behind.size() > name.size() &&
                         std::all_of(name.begin(), name.end(), [](char c) { return is_part_of_name(c) || c == '.'; });
    return is_name ? name : std::string_view();
}

bool is_site(const StackTable& stacks, const Finding& finding, const Line& line) {
    const FrameId site = stacks.site(finding.stack);
    return site != 0 && stacks.frame(site).line == line.number && stacks.string(stacks.frame(site).file) == line.file;
}

}  // namespace

void add_storing_line(Finding& finding, const AnalysisContext& context, const std::vector<PathLink>& path,
                      const Words& words) {
    const bool is_container = container_end(path) < path.size();
    const auto container = is_container ? container_of(context.graph()->tables(), path) : std::nullopt;
    if (!container) {
        return;
    }
    const auto place = [](const Line& line) {
        return with("place", fmt::format("{}:{}", base_name(line.file), line.number));
    };
    const auto code = [](const Line& line) { return with("code", std::string(line.code)); };
    const std::vector<Line> storing = find_lines(context.trace(), *container, stores);
    if (storing.size() != 1) {
        return;
    }
    if (!is_site(context.trace().stacks, finding, storing[0])) {
        finding.text.push_back(words("{place} stores them: `{code}`.", place(storing[0]), code(storing[0])));
    }
    const std::vector<Line> removing = find_lines(context.trace(), *container, removes);
    if (!removing.empty()) {
        finding.text.push_back(
            words("{place} removes from it: `{code}`. Check when that line runs, and whether there is a limit that was "
                  "not reached yet.",
                  place(removing[0]), code(removing[0])));
    }
}

std::string key_in_program(const AnalysisContext& context, const std::vector<PathLink>& path) {
    const auto container = container_of(context.graph()->tables(), path);
    const std::vector<Line> storing = container ? find_lines(context.trace(), *container, stores) : std::vector<Line>();
    return storing.size() == 1 ? std::string(name_in_brackets(storing[0].code, container->name)) : std::string();
}

}  // namespace tidemark
