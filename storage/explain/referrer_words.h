// Who holds something, in words a person knows from the own code.
#pragma once

#include <string>

#include "storage/text/words.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// "list `outputs` (variable of main, s01.py:31)"; of a container the container, not the element; files without
/// folders.
std::string referrer_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// The same with how many of its elements: "..., elements 0 to 59".
std::string referrer_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group);
/// The expression alone, as in code: "outputs", "self.cache".
std::string referrer_expression(const GraphTables& tables, const Referrer& referrer);
/// An index, a key or an element: what is held is in a container.
bool is_element(const PathLink& link);
/// The container among the links: what comes before the first index, key or element; everything where there is none.
size_t container_end(const std::vector<PathLink>& links);

}  // namespace tidemark
