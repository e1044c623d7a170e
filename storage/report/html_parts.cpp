// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/html_parts.h"
#include "storage/report/code_block.h"

#include <fmt/format.h>

#include "storage/report/html_colors.h"
#include "storage/report/html_style.h"
#include "storage/report/layout.h"
#include "storage/report/svg.h"

namespace tidemark {

std::string marked_up(std::string_view sentence) {
    const std::string firm = with_firm_units(sentence);
    std::string_view text = firm;
    std::string result;
    while (!text.empty()) {
        const size_t open = text.find('`');
        const size_t close = open == text.npos ? text.npos : text.find('`', open + 1);
        if (close == text.npos) {
            break;
        }
        result += html_escaped(text.substr(0, open));
        result += "<code>" + html_escaped(text.substr(open + 1, close - open - 1)) + "</code>";
        text.remove_prefix(close + 1);
    }
    return result + html_escaped(text);
}

std::string paragraphs(const std::vector<std::string>& texts) {
    std::string result;
    for (const std::string& text : texts) {
        result += fmt::format("<p>{}</p>\n", marked_up(text));
    }
    return result;
}

std::string bullets(const std::string& heading, const std::vector<std::string>& items) {
    if (items.empty()) {
        return {};
    }
    std::string result = fmt::format("<h4>{}</h4>\n<ul>\n", html_escaped(heading));
    for (const std::string& item : items) {
        result += fmt::format("<li>{}</li>\n", marked_up(item));
    }
    return result + "</ul>\n";
}

std::string summary_block(const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences) {
        const std::string_view tag = text.empty() ? "h1" : "p";
        text += fmt::format("<{0}>{1}</{0}>\n", tag, marked_up(sentence));
    }
    return "<div class=\"summary\">\n" + text + "</div>\n";
}

std::string table_head(const std::vector<std::string>& texts, const std::vector<std::string>& numbers) {
    std::string cells;
    for (const std::string& text : texts) {
        cells += fmt::format("<th>{}</th>", html_escaped(text));
    }
    for (const std::string& number : numbers) {
        cells += fmt::format("<th class=\"number\">{}</th>", html_escaped(number));
    }
    return "<tr>" + cells + "</tr>\n";
}

std::string html_page(const std::string& title, const std::string& body, const std::string& footer,
                      const Words& words) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
        "content=\"width=device-width, "
        "initial-scale=1\"/>\n<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n{}"
        "<footer class=\"quiet\">{}</footer>\n</main>\n</body>\n</html>\n",
        words.language() == Language::chinese ? "zh-CN" : "en", html_escaped(title), html_style, html_colors(), body,
        html_escaped(footer));
}

std::string html_fragment(const std::string& body) {
    // Rules that a rule contains concern the elements that this one matches. "&" is that element.
    std::string style = std::string(html_style) + html_colors();
    for (const std::string_view page : {":root", "\nbody "}) {
        for (size_t at = style.find(page); at != style.npos; at = style.find(page, at)) {
            style.replace(at, page.size(), page == ":root" ? "&" : "\n& ");
        }
    }
    return fmt::format("<div class=\"tidemark\">\n<style>.tidemark {{padding: 0.5em 1em;\n{}}}</style>\n{}</div>\n",
                       style, body);
}

std::string code_of_fix(std::string_view code, std::string_view diff) {
    if (diff.empty()) {
        return code.empty() ? "" : fmt::format("<pre>{}</pre>", html_escaped_lines(code));
    }
    constexpr std::string_view classes[] = {"quiet", "removed", "added"};
    std::string lines;
    for (const DiffLine& line : diff_lines(diff)) {
        lines += fmt::format("<span class=\"{}\">{}</span>\n", classes[static_cast<size_t>(line.part)],
                             html_escaped(line.text));
    }
    return fmt::format("<pre>{}</pre>", lines);
}

}  // namespace tidemark
