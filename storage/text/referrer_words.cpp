// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/text/referrer_words.h"

#include <span>

namespace tidemark {
namespace {

std::string expression(const GraphTables& tables, std::span<const PathLink> links) {
    std::string text;
    for (const PathLink& link : links) {
        const std::string& name = tables.texts[link.name];
        if (link.kind != PathLinkKind::view && !append_link(text, tables, link) && !name.empty()) {
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
        case PathLinkKind::global: return words("global variable");
        case PathLinkKind::closure: return words("closure of {function}", context);
        case PathLinkKind::exception:
        case PathLinkKind::hook:
        case PathLinkKind::ctx:
        case PathLinkKind::cycle:
        case PathLinkKind::native: return {};
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

std::string kind_words(const Words& words, const std::vector<PathLink>& links, size_t end) {
    switch (links.front().kind) {
        case PathLinkKind::exception: return words("exception ");
        case PathLinkKind::hook: return words("hook ");
        case PathLinkKind::ctx: return words("ctx of a custom Function ");
        case PathLinkKind::cycle: return words("reference cycle ");
        case PathLinkKind::native: return words("native code ");
        case PathLinkKind::callback: return words("callbacks of ");
        default: break;
    }
    return end == links.size()                        ? std::string()
           : links[end].kind == PathLinkKind::item    ? words("dict ")
           : links[end].kind == PathLinkKind::element ? words("container ")
                                                      : words("list ");
}

/// Describes the target of the first `end` links: "list `outputs` (variable of main, s01.py:31)".
std::string words_up_to(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links, size_t end) {
    const std::string name = expression(tables, std::span(links).first(end));
    const std::string place = whereabouts(tables, words, links.front());
    std::string text = kind_words(words, links, end) + (name.empty() ? "" : fmt::format("`{}`", name));
    text.erase(text.find_last_not_of(' ') + 1);
    return place.empty() ? text : words("{referrer} ({place})", with("referrer", text), with("place", place));
}

std::string container_words(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links) {
    return words_up_to(tables, words, links, container_end(links));
}

std::string elements_words(const Words& words, const std::string& referrer, int64_t first, int64_t last) {
    return first == last ? words("{referrer}, element {element}", with("referrer", referrer), with("element", first))
                         : words("{referrer}, elements {first} to {last}", with("referrer", referrer),
                                 with("first", first), with("last", last));
}

}  // namespace

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

std::string referrer_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group) {
    if (group.links.empty()) {
        return {};
    }
    const std::string text = container_words(tables, words, group.links);
    if (!group.varying || group.first_index == group.last_index) {
        return text;
    }
    return elements_words(words, text, group.first_index, group.last_index);
}

std::string path_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group) {
    if (group.links.empty()) {
        return words("unknown");
    }
    if (!group.varying) {
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
        case PathLinkKind::attribute: return words("attribute {name}", name);
        case PathLinkKind::item: return words("item {name}", name);
        case PathLinkKind::index: return words("element {name}", name);
        case PathLinkKind::element: return words("an element");
        case PathLinkKind::closure: return words("variable {name} of a closure", name);
        case PathLinkKind::exception: return text.empty() ? words("an exception") : words("exception {name}", name);
        case PathLinkKind::hook: return words("a hook");
        case PathLinkKind::ctx: return words("the context of a custom function");
        case PathLinkKind::cycle: return words("a reference cycle that waits for the garbage collector");
        case PathLinkKind::native: return words("native code, invisible to Python");
        case PathLinkKind::callback: return words("a function registered with {name}", name);
        case PathLinkKind::view: return words("a view of {name} bytes", name);
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

std::string referrer_expression(const GraphTables& tables, const Referrer& referrer) {
    return expression(tables, std::span(referrer.links).first(container_end(referrer.links)));
}

}  // namespace tidemark
