// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/container_fixes.h"

#include <algorithm>

#include "storage/explain/graph_referrers.h"
#include "storage/explain/python_code.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

bool is_private(std::string_view part) { return part.find("._") != part.npos; }

/// Returns the parts as code, unless they are the whole value, too many to read, or parts of what a call returns.
std::vector<std::string> parts_in_code(const StoringLine& line) {
    constexpr size_t most = 3;
    std::vector<std::string> parts;
    if (line.parts.size() > most || line.value.find('(') != line.value.npos) {
        return parts;
    }
    for (const std::string& part : line.parts) {
        if (part != line.value) {
            parts.push_back("`" + part + "`");
        }
    }
    return parts;
}

/// Names another container and the line that stores in it.
std::string words_of_container(const AnalysisContext& context, const Referrer& other, const Words& words) {
    const size_t end = container_end(other.links);
    const auto line = storing_line(context, FilledContainer{other.links, end, end}, GpuLibrary::pytorch);
    const std::string referrer = referrer_words(context.graph()->tables(), words, other);
    return line ? words("{referrer} retains the same graphs: change {place}, too, `{code}`.",
                        with("referrer", referrer), with("place", name_of(line->place)),
                        with("code", std::string(python_code::code_of(line->place.text))))
                : words("{referrer} retains the same graphs: change it, too.", with("referrer", referrer));
}

}  // namespace

std::optional<FilledContainer> filled_container(const LeakSuspect& suspect) {
    if (!suspect.referrer || !suspect.attributes.empty()) {
        return std::nullopt;
    }
    const size_t element = position_of_element(suspect);
    return element == suspect.referrer->links.size()
               ? std::nullopt
               : std::optional(FilledContainer{suspect.referrer->links, element, element});
}

void fit_to_storing_line(Fix& fix, const AnalysisContext& context, const std::optional<FilledContainer>& container,
                         GpuLibrary library, const Words& words) {
    const auto line = container ? storing_line(context, *container, library) : std::nullopt;
    // What a library's object retains in a private attribute, the program stores only indirectly.
    if (!line || std::any_of(line->parts.begin(), line->parts.end(), is_private)) {
        return;
    }
    fix.diff = line->diff;
    if (!fix.diff.empty()) {
        return;
    }
    fix.code.clear();
    const auto place = with("place", name_of(line->place));
    const auto code = with("code", std::string(python_code::code_of(line->place.text)));
    const std::vector<std::string> parts = parts_in_code(*line);
    const std::string change = parts.empty() ? words("Change {place}, which stores them: `{code}`.", place, code)
                                             : words("Change {place}, which stores {parts}: `{code}`.", place,
                                                     with("parts", words.list(parts)), code);
    fix.text = words.sentences({fix.text, change});
}

void fit_to_graph_containers(Fix& fix, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    fit_to_storing_line(fix, context, filled_container(suspect), GpuLibrary::pytorch, words);
    for (const Referrer* other : other_containers_of_graph(*context.graph(), suspect)) {
        fix.text = words.sentences({fix.text, words_of_container(context, *other, words)});
    }
}

}  // namespace tidemark
