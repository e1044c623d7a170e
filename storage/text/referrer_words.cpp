// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/referrer_words.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "storage/base/units.h"
#include "storage/graph/pooled_arrays.h"

namespace tidemark {
namespace {

// How the recorder names the references of a bound method and of a functools.partial.
constexpr std::string_view self_of_method = "self of ", argument_of_partial = "argument ";
// How it names the results that functools.lru_cache stores.
constexpr std::string_view cache_of_function = "cache of ";

using Links = std::span<const PathLink>;

/// Appends "partial(draw).args[1]" for "argument 1 of partial(draw)", and "partial(draw).keywords["mask"]" for its
/// argument "mask".
void append_argument(std::string& text, const std::string& name) {
    const size_t of = name.find(" of ");
    const std::string argument = name.substr(argument_of_partial.size(), of - argument_of_partial.size());
    const bool is_number = argument.find_first_not_of("0123456789") == std::string::npos;
    text += text.empty() ? name.substr(of + 4) : std::string();
    text += is_number ? fmt::format(".args[{}]", argument) : fmt::format(".keywords[\"{}\"]", argument);
}

/// The two names of a link: "x of Swish".
struct PartAndWhole {
    std::string part, whole;  ///< whole: "" if it is unknown
};

PartAndWhole part_and_whole(const GraphTables& tables, const PathLink& link) {
    const std::string& name = tables.texts[link.name];
    const size_t of = name.find(" of ");
    return {name.substr(0, of), of == std::string::npos ? std::string() : name.substr(of + 4)};
}

std::string attribute_words(const GraphTables& tables, const Words& words, const PathLink& link) {
    const std::string owner = owner_of(tables, link);
    return owner.empty() ? words("attribute {name}", with("name", tables.texts[link.name]))
                         : words("attribute {name} of {class}", with("name", part_and_whole(tables, link).part),
                                 with("class", owner));
}

/// Returns a number of bytes as a size; another text as it is.
std::string size_text(const std::string& bytes) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), number);
    return error == std::errc() && end == bytes.data() + bytes.size() ? format_bytes(number) : bytes;
}

std::string view_words(const GraphTables& tables, const Words& words, const PathLink& link) {
    const auto [part, whole] = part_and_whole(tables, link);
    const auto size = with("part", size_text(part));
    return whole.empty() ? words("a view of {part}", size)
                         : words("a view of {part} of {whole}", size, with("whole", size_text(whole)));
}

/// Appends ".history" for "history of Trainer", "[3]" for "3 of Sequential", and nothing for a reference that a type of
/// C hides ("part of Future").
void append_attribute(std::string& text, const GraphTables& tables, const PathLink& link) {
    const std::string& name = tables.texts[link.name];
    const std::string attribute = name.substr(0, name.find(" of "));
    if (name.starts_with(argument_of_partial)) {
        append_argument(text, name);
    } else if (name.starts_with(self_of_method)) {
        text += (text.empty() ? "" : ".") + attribute;
    } else if (name.starts_with(cache_of_function)) {
        text += ".cache";
    } else if (owner_of(tables, link).empty()) {
        append_link(text, tables, link);
    } else if (attribute.find_first_not_of("0123456789") == std::string::npos) {
        text += fmt::format("[{}]", attribute);
    } else if (attribute != "part") {
        text += "." + attribute;
    }
}

std::string expression(const GraphTables& tables, Links links) {
    std::string text;
    for (const PathLink& link : links) {
        const std::string& name = tables.texts[link.name];
        if (link.kind == PathLinkKind::attribute) {
            append_attribute(text, tables, link);
        } else if (link.kind == PathLinkKind::ctx) {
            text += (text.empty() ? "ctx." : ".ctx.") + part_and_whole(tables, link).part;
        } else if (link.kind == PathLinkKind::element && name.empty() && !text.empty()) {
            text += "[...]";
        } else if (link.kind != PathLinkKind::view && !append_link(text, tables, link) && !name.empty()) {
            text += fmt::format("<{}>", name);
        }
    }
    return text;
}

std::string file_and_line(const GraphTables& tables, const PathLink& link) {
    const std::string& path = tables.texts[link.file];
    const std::string file = path.substr(path.find_last_of("/\\") + 1);
    return file.empty() || link.line <= 0 ? file : fmt::format("{}:{}", file, link.line);
}

std::string kind_of_variable(const GraphTables& tables, const Words& words, const PathLink& link) {
    const std::string& function = tables.texts[link.function];
    const auto context = with("function", function);
    switch (link.kind) {
        case PathLinkKind::global:
            return !is_context_variable(link) ? words("global variable")
                   : link.file == 0           ? words("context variable")
                                              : words("context variable of a task of {function}", context);
        case PathLinkKind::closure: return words("closure of {function}", context);
        case PathLinkKind::exception:
        case PathLinkKind::hook:
        case PathLinkKind::ctx:
        case PathLinkKind::cycle:
        case PathLinkKind::native:
        case PathLinkKind::attribute: return {};
        case PathLinkKind::callback: return words("registered function {function}", context);
        default: return function.empty() ? words("variable") : words("variable of {function}", context);
    }
}

/// Returns "variable of main, s01.py:31"; empty if nothing is known.
std::string whereabouts(const GraphTables& tables, const Words& words, const PathLink& link) {
    const std::string what = kind_of_variable(tables, words, link), place = file_and_line(tables, link);
    return what.empty() || place.empty() ? what + place
                                         : words("{what}, {place}", with("what", what), with("place", place));
}

/// `next`: the link after the last one that is described; nullptr: there is none.
std::string kind_words(const GraphTables& tables, const Words& words, PathLinkKind first, const PathLink* next) {
    switch (first) {
        case PathLinkKind::exception: return words("exception ");
        case PathLinkKind::hook: return words("hook ");
        case PathLinkKind::cycle: return words("reference cycle ");
        case PathLinkKind::native: return words("native code ");
        case PathLinkKind::callback: return words("callbacks of ");
        default: break;
    }
    if (next == nullptr || !is_element(*next)) {
        return {};
    }
    return next->kind == PathLinkKind::item      ? words("dict ")
           : next->kind == PathLinkKind::element ? words("container ")
           : is_in_deque(tables, *next)          ? words("deque ")
                                                 : words("list ");
}

/// Returns the class whose attribute the last link is; "" if it is none.
std::string last_owner(const GraphTables& tables, Links links) {
    return links.back().kind == PathLinkKind::attribute ? owner_of(tables, links.back()) : std::string();
}

/// Returns the expression without the dot of an attribute whose object has no name.
std::string named_expression(const GraphTables& tables, Links links) {
    std::string text = expression(tables, links);
    return text.starts_with('.') ? text.substr(1) : text;
}

/// Describes links that stay within the variables of one function or object: "list `trainer.history` of class Trainer
/// (variable of main, s01.py:31)". `next`: the link that follows; nullptr: none.
std::string words_of_part(const GraphTables& tables, const Words& words, Links part, const PathLink* next) {
    const std::string name = named_expression(tables, part);
    const std::string place = whereabouts(tables, words, part.front());
    std::string text =
        kind_words(tables, words, part.front().kind, next) + (name.empty() ? "" : fmt::format("`{}`", name));
    text.erase(text.find_last_not_of(' ') + 1);
    if (const std::string owner = last_owner(tables, part); !owner.empty()) {
        text = words("{referrer} of class {owner}", with("referrer", text), with("owner", owner));
    }
    if (part.front().kind == PathLinkKind::ctx) {
        text = words("{referrer} of custom Function `{function}`", with("referrer", text),
                     with("function", part_and_whole(tables, part.front()).whole));
    }
    return place.empty() ? text : words("{referrer} ({place})", with("referrer", text), with("place", place));
}

/// Returns the last link of the first `end` that enters the variables of another function; 0: there is none.
size_t last_entry(const GraphTables& tables, const std::vector<PathLink>& links, size_t end) {
    while (--end > 0 && !enters_function(tables, links, end)) {
    }
    return end;
}

/// Returns the position of the last link into a container up to `position`; 0: there is none.
size_t last_element(const std::vector<PathLink>& links, size_t position) {
    while (position > 0 && !is_element(links[position])) {
        --position;
    }
    return position;
}

/// Returns whether the path starts at a variable, and not in a reference cycle or at a registered function.
bool has_variable(const PathLink& first) {
    return first.kind != PathLinkKind::cycle && first.kind != PathLinkKind::callback;
}

/// Describes the target of the first `end` links, innermost function first: "`x` (variable of f, s01.py:9) in a frame
/// of the exception stored in list `failed` (variable of main, s01.py:31)".
std::string words_up_to(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links, size_t end) {
    const PathLink* next = end == links.size() ? nullptr : &links[end];
    const size_t entry = end == 0 ? 0 : last_entry(tables, links, end);
    const bool is_exceptions = entry > 0 && links[entry].kind == PathLinkKind::exception;
    // The link of an exception names the function, the next one its variable.
    const size_t begin = is_exceptions && entry + 1 < end ? entry + 1 : entry;
    std::string own = words_of_part(tables, words, Links(links).subspan(begin, end - begin), next);
    if (entry == 0) {
        return own;
    }
    if (!is_exceptions && links[entry - 1].kind == PathLinkKind::hook && entry > 1) {
        return words("{referrer} in a {hook} reached through {outer}", with("referrer", own),
                     with("hook", tables.texts[links[entry - 1].name]),
                     with("outer", words_up_to(tables, words, links, entry - 1)));
    }
    const size_t outer_end = last_element(links, entry);
    const std::string outer = words_up_to(tables, words, links, outer_end == 0 ? entry : outer_end);
    const auto referrer = with("referrer", own), outside = with("outer", outer);
    if (is_exceptions) {
        return words("{referrer} in a frame of the exception stored in {outer}", referrer, outside);
    }
    if (outer_end == 0 && entry == 1 && !has_variable(links.front())) {
        return words("{referrer} in {outer}", referrer, outside);
    }
    return links[entry].kind == PathLinkKind::local
               ? words("{referrer} in a suspended call reached through {outer}", referrer, outside)
               : words("{referrer} in a function reached through {outer}", referrer, outside);
}

std::string container_words(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links) {
    return words_up_to(tables, words, links, container_end(links));
}

/// Returns the number of the first links that name a reference cycle and not what is in it.
size_t links_of_cycle(const std::vector<PathLink>& links) {
    return links.size() > 1 && links.front().kind == PathLinkKind::cycle ? 1 : 0;
}

/// Describes the container to which the first `end` links lead; see filled_container_words().
std::string container_of_elements(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links,
                                  size_t end) {
    const size_t begin = links_of_cycle(links);
    if (begin == 0 || end == begin || owner_of(tables, links[begin]).empty()) {
        return words_up_to(tables, words, links, end);
    }
    const std::vector<PathLink> inside(links.begin() + 1, links.end());
    return words("{referrer} in a reference cycle", with("referrer", words_up_to(tables, words, inside, end - 1)));
}

std::string elements_words(const Words& words, const std::string& referrer, int64_t first, int64_t last) {
    return first == last ? words("{referrer}, element {element}", with("referrer", referrer), with("element", first))
                         : words("{referrer}, elements {first} to {last}", with("referrer", referrer),
                                 with("first", first), with("last", last));
}

}  // namespace

std::string owner_of(const GraphTables& tables, const PathLink& link) {
    const std::string& name = tables.texts[link.name];
    const size_t of = name.find(" of ");
    // "self of Sink.add", "cache of fit" and "argument 1 of partial(draw)" name a function.
    const bool is_attribute = link.kind == PathLinkKind::attribute && of != std::string::npos && link.function == 0 &&
                              name.find_first_of(" .(", of + 4) == std::string::npos && name.find(' ') == of;
    return is_attribute ? name.substr(of + 4) : std::string();
}

bool is_context_variable(const PathLink& link) { return link.kind == PathLinkKind::global && link.function != 0; }

bool is_cache_of_function(const GraphTables& tables, const PathLink& link) {
    return link.kind == PathLinkKind::attribute && tables.texts[link.name].starts_with(cache_of_function);
}

bool is_object_of_method(const GraphTables& tables, const PathLink& link) {
    return link.kind == PathLinkKind::attribute && tables.texts[link.name].starts_with(self_of_method);
}

bool enters_function(const GraphTables& tables, const std::vector<PathLink>& links, size_t position) {
    if (position == 0 || links[position - 1].kind == PathLinkKind::exception) {
        return false;
    }
    const PathLink& link = links[position];
    const std::string& name = tables.texts[link.name];
    return link.kind == PathLinkKind::local || link.kind == PathLinkKind::closure ||
           link.kind == PathLinkKind::exception || is_object_of_method(tables, link) ||
           (link.kind == PathLinkKind::attribute && name.starts_with(argument_of_partial));
}

bool is_in_deque(const GraphTables& tables, const PathLink& link) {
    return link.kind == PathLinkKind::index && tables.texts[link.function].starts_with("deque");
}

std::optional<int64_t> limit_of_deque(const GraphTables& tables, const PathLink& link) {
    constexpr std::string_view beginning = "deque(maxlen=";
    const std::string_view text = tables.texts[link.function];
    if (!is_in_deque(tables, link) || !text.starts_with(beginning)) {
        return std::nullopt;
    }
    int64_t limit = 0;
    const auto [end, error] = std::from_chars(text.data() + beginning.size(), text.data() + text.size(), limit);
    return error == std::errc() ? std::optional(limit) : std::nullopt;
}

bool is_element(const PathLink& link) {
    return link.kind == PathLinkKind::index || link.kind == PathLinkKind::item || link.kind == PathLinkKind::element;
}

size_t container_end(const std::vector<PathLink>& links) {
    size_t end = 0;
    while (end < links.size() && (end == 0 || !is_element(links[end]))) {
        ++end;
    }
    return end;
}

std::string referrer_words(const GraphTables& tables, const Words& words, const Referrer& referrer) {
    return referrer.links.empty() ? std::string() : container_words(tables, words, referrer.links);
}

std::string filled_container_words(const GraphTables& tables, const Words& words, const Referrer& referrer) {
    return container_of_elements(tables, words, referrer.links, container_end(referrer.links));
}

std::string referrer_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group) {
    if (group.links.empty()) {
        return {};
    }
    const bool has_range = group.first_index < group.last_index;
    if (!group.varying || !(has_range || group.is_growth)) {
        return container_words(tables, words, group.links);
    }
    const bool is_hook = group.links[*group.varying].kind == PathLinkKind::hook;
    const size_t end = is_hook ? group.links.size() : *group.varying;
    const std::string text = container_of_elements(tables, words, group.links, end);
    return has_range ? elements_words(words, text, group.first_index, group.last_index) : text;
}

std::string path_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group) {
    if (group.links.empty()) {
        return words("unknown");
    }
    if (!group.varying || last_entry(tables, group.links, group.links.size()) > *group.varying) {
        return words_up_to(tables, words, group.links, group.links.size());
    }
    const std::string text = elements_words(words, words_up_to(tables, words, group.links, *group.varying),
                                            group.first_index, group.last_index);
    const std::string rest = expression(tables, std::span(group.links).subspan(*group.varying + 1));
    return rest.empty() ? text : words("{referrer}, there `{rest}`", with("referrer", text), with("rest", rest));
}

std::string path_words(const GraphTables& tables, const Words& words, const Referrer& referrer) {
    return path_words(tables, words, group_of(tables, referrer));
}

std::string link_words(const GraphTables& tables, const Words& words, const PathLink& link) {
    const std::string &text = tables.texts[link.name], &function = tables.texts[link.function];
    const std::string file = file_and_line(tables, link);
    const std::string place =
        function.empty() || file.empty() ? function + file : fmt::format("{}, {}", function, file);
    const auto name = with("name", text);
    switch (link.kind) {
        case PathLinkKind::local:
            return place.empty() ? words("variable {name}", name)
                                 : words("variable {name} of {place}", name, with("place", place));
        case PathLinkKind::global:
            return place.empty() ? words("global variable {name}", name)
                                 : words("global variable {name} ({place})", name, with("place", place));
        case PathLinkKind::attribute: return attribute_words(tables, words, link);
        case PathLinkKind::item: return words("item {name}", name);
        case PathLinkKind::index: return words("element {name}", name);
        case PathLinkKind::element: return words("an element");
        case PathLinkKind::closure: return words("variable {name} of a closure", name);
        case PathLinkKind::exception: return text.empty() ? words("an exception") : words("exception {name}", name);
        case PathLinkKind::hook:
            return place.empty() ? words("a hook") : words("the hook {place}", with("place", place));
        case PathLinkKind::ctx: {
            const PartAndWhole names = part_and_whole(tables, link);
            return words("attribute {name} of the ctx of custom Function {function}", with("name", names.part),
                         with("function", names.whole));
        }
        case PathLinkKind::cycle: return words("a reference cycle that waits for the garbage collector");
        case PathLinkKind::native: return words("native code, invisible to Python");
        case PathLinkKind::callback: return words("a function registered with {name}", name);
        case PathLinkKind::view: return view_words(tables, words, link);
        case PathLinkKind::arrays: {
            const auto arrays = pooled_arrays_of(text);
            return words.plural(arrays ? arrays->count : 0, "{n} array in a pool", "{n} arrays in a pool");
        }
        case PathLinkKind::unknown: return text.empty() ? link.kind.text : link.kind.text + ' ' + text;
    }
    return {};
}

std::string retention_path_words(const GraphTables& tables, const Words& words, const Referrer& referrer) {
    std::string text;
    for (const PathLink& link : referrer.links) {
        text += (text.empty() ? "" : " → ") + link_words(tables, words, link);
    }
    return text;
}

std::string referrer_expression(const GraphTables& tables, const ReferrerGroup& group) {
    const size_t end = group.is_growth && group.varying ? *group.varying : container_end(group.links);
    return object_expression(tables, group.links, end);
}

std::string object_expression(const GraphTables& tables, const std::vector<PathLink>& links, size_t end) {
    const size_t entry = std::max(end == 0 ? 0 : last_entry(tables, links, end), std::min(links_of_cycle(links), end));
    const Links part = Links(links).subspan(entry, end - entry);
    return links_of_cycle(links) == 0 ? expression(tables, part) : named_expression(tables, part);
}

StoredException stored_exception(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links) {
    const auto is_exception = [](const PathLink& link) { return link.kind == PathLinkKind::exception; };
    const auto at = static_cast<size_t>(std::find_if(links.begin(), links.end(), is_exception) - links.begin());
    if (at == 0 || at == links.size()) {
        return {};
    }
    const size_t element = last_element(links, at), end = element == 0 ? at : element;
    return {words_up_to(tables, words, links, end), object_expression(tables, links, end),
            element == 0 ? PathLinkKind::unknown : PathLinkKind(links[element].kind)};
}

std::string referrer_expression(const GraphTables& tables, const Referrer& referrer) {
    return expression(tables, std::span(referrer.links).first(container_end(referrer.links)));
}

}  // namespace tidemark
