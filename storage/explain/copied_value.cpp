// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/copied_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "storage/explain/python_code.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

using namespace python_code;
using namespace std::string_view_literals;

/// Returns whether brackets around the code make it one operand. A comprehension or a lambda changes in brackets.
bool can_be_bracketed(std::string_view code) {
    constexpr std::array others{" for "sv, "lambda"sv, "="sv, "await "sv, "#"sv, R"(\)"sv};
    const bool has_other = std::any_of(others.begin(), others.end(),
                                       [&](std::string_view other) { return code.find(other) != code.npos; });
    return !code.empty() && !has_other && !code.starts_with('*') && split_arguments(code).size() == 1;
}

std::optional<std::string> copy_of(std::string_view value, GpuLibrary library) {
    const bool is_literal = value.starts_with('(') || value.starts_with('[') || value.starts_with('{');
    if (value.find(".cpu()") != value.npos || library == GpuLibrary::none || is_literal) {
        return std::nullopt;
    }
    if (is_operand(value)) {
        return host_copy_of(library, value);
    }
    return can_be_bracketed(value) ? std::optional(host_copy_of(library, fmt::format("({})", value))) : std::nullopt;
}

/// Returns what is in the brackets if the code is one pair of them behind `before` characters.
std::string_view in_brackets(std::string_view code, size_t before, char opening) {
    const bool has_brackets = code.size() > before && code[before] == opening &&
                              length_of_brackets(code.substr(before)) == code.size() - before;
    return has_brackets ? code.substr(before + 1, code.size() - before - 2) : std::string_view();
}

/// Returns the element of a tuple or list in code: "x" of "(step, x)".
std::string_view element_at(std::string_view code, std::string_view index) {
    size_t position = 0;
    std::from_chars(index.data(), index.data() + index.size(), position);
    const std::string_view inside = in_brackets(code, 0, code.starts_with('[') ? '[' : '(');
    const auto elements = split_arguments(inside);
    const bool is_known = position < elements.size() &&
                          (elements.size() > 1 || code.starts_with('[') || inside.ends_with(',')) &&
                          std::none_of(elements.begin(), elements.begin() + static_cast<ptrdiff_t>(position) + 1,
                                       [](std::string_view element) { return element.starts_with('*'); });
    return is_known && can_be_bracketed(elements[position]) ? elements[position] : std::string_view();
}

/// Returns the value of a key in a dict in code. `key`: as Python prints it.
std::string_view item_at(std::string_view code, std::string_view key) {
    constexpr std::string_view separator = ":";
    for (const std::string_view entry : split_arguments(in_brackets(code, 0, '{'))) {
        std::string written(entry.substr(0, entry.find(separator)));
        std::replace(written.begin(), written.end(), '"', '\'');
        if (written == key) {
            return code_of(entry.substr(entry.find(separator) + 1));
        }
    }
    return {};
}

/// Returns the keyword argument of a call of the class in code: "x" of "Step(loss=x)".
std::string_view keyword_at(std::string_view code, std::string_view owner, std::string_view name) {
    const size_t begin = find_name(code, owner);
    const std::string_view arguments = begin == code.npos ? "" : in_brackets(code, begin + owner.size(), '(');
    for (const std::string_view argument : split_arguments(arguments)) {
        if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
            return argument.substr(name.size() + 1);
        }
    }
    return {};
}

std::string_view name_of_link(const GraphTables& tables, const PathLink& link) {
    const std::string_view name = tables.texts[link.name];
    return link.kind == PathLinkKind::attribute ? name.substr(0, name.find(' ')) : name;
}

/// Returns the code in which the link's target is written; "" if it is not.
std::string_view written_part(const GraphTables& tables, std::string_view code, const PathLink& link) {
    const std::string_view name = name_of_link(tables, link);
    switch (link.kind) {
        case PathLinkKind::index: return element_at(code, name);
        case PathLinkKind::item: return item_at(code, name);
        case PathLinkKind::attribute: return keyword_at(code, owner_of(tables, link), name);
        default: return {};
    }
}

/// Adds a copied entry to a dict that a variable has: to "{**output, "x": …}" if there is one.
bool copy_item_of_variable(std::string& value, std::string_view key, GpuLibrary library) {
    constexpr std::string_view beginning = "{**";
    const bool is_added = value.starts_with(beginning);
    const std::string variable = is_added ? value.substr(beginning.size(), value.find(',') - beginning.size()) : value;
    const bool is_key = key.starts_with('\'') || (!key.empty() && std::all_of(key.begin(), key.end(), is_digit));
    if (!is_operand(variable) || variable.find('(') != variable.npos || !is_key) {
        return false;
    }
    std::string name(key);
    std::replace(name.begin(), name.end(), '\'', '"');
    const std::string entry = fmt::format("{}: {}", name, host_copy_of(library, fmt::format("{}[{}]", variable, name)));
    value = is_added ? fmt::format("{}, {}}}", value.substr(0, value.size() - 1), entry)
                     : fmt::format("{{**{}, {}}}", variable, entry);
    return true;
}

/// Changes code so that a part of its value is a copy. Returns false for code of another form.
bool copy_part(std::string& value, const GraphTables& tables, std::span<const PathLink> part, GpuLibrary library) {
    if (part.empty()) {
        std::optional<std::string> copy = copy_of(value, library);
        value = copy ? std::move(*copy) : std::move(value);
        return copy.has_value();
    }
    const std::string_view written = written_part(tables, value, part.front());
    if (written.empty()) {
        return part.front().kind == PathLinkKind::item && part.size() == 1 && library != GpuLibrary::none &&
               copy_item_of_variable(value, name_of_link(tables, part.front()), library);
    }
    const size_t begin = static_cast<size_t>(written.data() - value.data()), length = written.size();
    std::string changed(written);
    if (!copy_part(changed, tables, part.subspan(1), library)) {
        return false;
    }
    value.replace(begin, length, changed);
    return true;
}

/// Returns whether the value is a dict of tensors, such as a state_dict().
bool is_dict_of_tensors(std::string_view value, std::span<const ValuePart> parts) {
    constexpr size_t fewest_items = 4;
    return parts.size() >= fewest_items && is_operand(value) &&
           std::all_of(parts.begin(), parts.end(), [](const ValuePart& part) {
               return part.size() == 1 && part.front().kind == PathLinkKind::item;
           });
}

}  // namespace

std::optional<std::string> with_copies(std::string_view value, const GraphTables& tables,
                                       std::span<const ValuePart> parts, GpuLibrary library) {
    if (is_dict_of_tensors(value, parts) && library != GpuLibrary::none) {
        return fmt::format("{{name: {} for name, tensor in {}.items()}}", host_copy_of(library, "tensor"), value);
    }
    std::string copied(value);
    for (const ValuePart& part : parts) {
        if (!copy_part(copied, tables, part, library)) {
            return std::nullopt;
        }
    }
    return copied == value ? std::nullopt : std::optional(std::move(copied));
}

std::string name_of_part(const GraphTables& tables, std::string_view value, std::span<const PathLink> part) {
    if (part.empty()) {
        return std::string(value);
    }
    if (const std::string_view written = written_part(tables, value, part.front()); !written.empty()) {
        return name_of_part(tables, written, part.subspan(1));
    }
    const std::vector<PathLink> links(part.begin(), part.end());
    const std::string rest = object_expression(tables, links, links.size());
    return is_operand(value) && rest.find('<') == rest.npos && !rest.empty() && !is_letter(rest.front())
               ? fmt::format("{}{}", value, rest)
               : std::string(value);
}

}  // namespace tidemark
