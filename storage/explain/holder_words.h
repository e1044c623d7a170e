// Who holds something, in words a person knows from the own code.
#pragma once

#include <string>

#include "storage/explain/words.h"
#include "storage/graph/holder_groups.h"

namespace tidemark {

/// "list `outputs` (variable of main, s01.py:31)"; of a container the container, not the element; files without
/// folders.
std::string holder_words(const GraphTables& tables, const Words& words, const Holder& holder);
/// The same with how many of its elements: "..., elements 0 to 59".
std::string holder_words(const GraphTables& tables, const Words& words, const HolderGroup& group);
/// The expression alone, as in code: "outputs", "self.cache".
std::string holder_expression(const GraphTables& tables, const Holder& holder);
/// An index, a key or an element: what is held is in a container.
bool is_element(const HolderLink& link);
/// The container among the links: what comes before the first index, key or element; everything where there is none.
size_t container_end(const std::vector<HolderLink>& links);

}  // namespace tidemark
