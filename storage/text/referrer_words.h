// Who holds something, in words a person knows from the own code.
#pragma once

#include <string>

#include "storage/graph/referrer_groups.h"
#include "storage/text/words.h"

namespace tidemark {

/// "list `outputs` (variable of main, s01.py:31)"; of a container the container, not the element; files without
/// folders.
std::string referrer_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// The same with how many of its elements: "..., elements 0 to 59".
std::string referrer_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group);
/// The whole path, for a command: "list `trainer.history["loss"]` (global variable), element 7, there `.grad_fn`"
std::string path_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// "list `outputs` (variable of main, s01.py:31), elements 0 to 99"
std::string path_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group);
/// One link: "variable outputs of main, s01.py:31"
std::string link_words(const GraphTables& tables, const Words& words, const PathLink& link);
/// All links: "variable outputs of main, s01.py:31 → element 17"
std::string retention_path_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// The expression alone, as in code: "outputs", "self.cache".
std::string referrer_expression(const GraphTables& tables, const Referrer& referrer);
/// An index, a key or an element: what is held is in a container.
bool is_element(const PathLink& link);
/// The container among the links: what comes before the first index, key or element; everything where there is none.
size_t container_end(const std::vector<PathLink>& links);

}  // namespace tidemark
