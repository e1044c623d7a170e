#include "storage/explain/referrer_words.h"

#include <span>

namespace tidemark {
namespace {

std::string expression(const GraphTables& tables, std::span<const PathLink> links) {
    std::string text;
    for (const PathLink& link : links) {
        const std::string& name = tables.texts[link.name];
        if (!append_link(text, tables, link) && !name.empty()) {
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

std::string place_words(const GraphTables& tables, const Words& words, const PathLink& link) {
    const std::string& function = tables.texts[link.function];
    const auto context = with("function", function);
    std::string what = link.kind == "global"    ? words("global variable")
                       : link.kind == "closure" ? words("closure of {function}", context)
                       : link.kind == "exception" || link.kind == "hook" || link.kind == "ctx" || link.kind == "cycle"
                           ? std::string()
                       : function.empty() ? words("variable")
                                          : words("variable of {function}", context);
    const std::string place = file_and_line(tables, link);
    return what.empty() || place.empty() ? what + place
                                         : words("{what}, {place}", with("what", what), with("place", place));
}

std::string kind_words(const Words& words, const std::vector<PathLink>& links, size_t end) {
    const std::string& outermost = links.front().kind;
    if (outermost == "exception") {
        return words("exception ");
    }
    if (outermost == "hook") {
        return words("hook ");
    }
    if (outermost == "ctx") {
        return words("ctx of a custom Function ");
    }
    if (outermost == "cycle") {
        return words("reference cycle ");
    }
    return end == links.size()            ? std::string()
           : links[end].kind == "item"    ? words("dict ")
           : links[end].kind == "element" ? words("container ")
                                          : words("list ");
}

std::string container_words(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links) {
    const size_t end = container_end(links);
    const std::string name = expression(tables, std::span(links).first(end));
    const std::string place = place_words(tables, words, links.front());
    std::string text = kind_words(words, links, end) + (name.empty() ? "" : fmt::format("`{}`", name));
    return place.empty() ? text : words("{referrer} ({place})", with("referrer", text), with("place", place));
}

}  // namespace

bool is_element(const PathLink& link) { return link.kind == "index" || link.kind == "item" || link.kind == "element"; }

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
    return words("{referrer}, elements {first} to {last}", with("referrer", text), with("first", group.first_index),
                 with("last", group.last_index));
}

std::string referrer_expression(const GraphTables& tables, const Referrer& referrer) {
    return expression(tables, std::span(referrer.links).first(container_end(referrer.links)));
}

}  // namespace tidemark
