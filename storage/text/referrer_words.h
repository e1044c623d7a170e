// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Descriptions of referrers in terms of the program's source code.
#pragma once

#include <optional>
#include <string>

#include "storage/graph/referrer_groups.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns "list `outputs` (variable of main, s01.py:31)": the container, not the element, with file names without
/// folders.
std::string referrer_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// Returns the same of a container that fills. When a function has returned, only their reference cycle may retain its
/// objects: then "list `outputs` of class Monitor in a reference cycle".
std::string filled_container_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// Returns the same with the range of elements: "..., elements 0 to 59".
std::string referrer_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group);
/// Returns the whole path, for a command: "list `trainer.history["loss"]` (global variable), element 7, there
/// `.grad_fn`".
std::string path_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// Returns "list `outputs` (variable of main, s01.py:31), elements 0 to 99".
std::string path_words(const GraphTables& tables, const Words& words, const ReferrerGroup& group);
/// Describes one link: "variable outputs of main, s01.py:31".
std::string link_words(const GraphTables& tables, const Words& words, const PathLink& link);
/// Describes all links: "variable outputs of main, s01.py:31 → element 17".
std::string retention_path_words(const GraphTables& tables, const Words& words, const Referrer& referrer);
/// Returns only the expression, as in source code: "outputs", "self.cache".
std::string referrer_expression(const GraphTables& tables, const Referrer& referrer);
/// Returns the expression of the container that fills, within the function that its variable belongs to.
std::string referrer_expression(const GraphTables& tables, const ReferrerGroup& group);
/// Returns the expression of the first `end` links, within the function of the last variable on them.
std::string object_expression(const GraphTables& tables, const std::vector<PathLink>& links, size_t end);

/// What refers to an exception whose frames retain memory.
struct StoredException {
    std::string referrer;    ///< "list `failed` (variable of main, s01.py:31)"; "": the path starts at its frames
    std::string expression;  ///< "failed"
    PathLinkKind element = PathLinkKind::unknown;  ///< how the expression contains it; unknown: it is the exception
};
StoredException stored_exception(const GraphTables& tables, const Words& words, const std::vector<PathLink>& links);

/// Returns the class of the object whose attribute the link is: "Trainer" for "history of Trainer"; "" if it is none.
std::string owner_of(const GraphTables& tables, const PathLink& link);
/// Returns whether the link leads from a context to the value of a context variable (contextvars). Its function is that
/// of the task whose context it is, and has a file, or "Context" if the context is of no task.
bool is_context_variable(const PathLink& link);
/// Returns whether the link leads from a function to the results that functools.lru_cache stores, one of which has the
/// same path as another.
bool is_cache_of_function(const GraphTables& tables, const PathLink& link);
/// Returns whether the link leads from a bound method to its object.
bool is_object_of_method(const GraphTables& tables, const PathLink& link);
/// Returns whether the link leads into another function than the links before: a suspended one, a closure, a bound
/// method, or one that an exception left.
bool enters_function(const GraphTables& tables, const std::vector<PathLink>& links, size_t position);
/// Returns whether the link leads to an element of a collections.deque.
bool is_in_deque(const GraphTables& tables, const PathLink& link);
/// Returns the maxlen of that deque; nothing if it has none, or if it was not recorded.
std::optional<int64_t> limit_of_deque(const GraphTables& tables, const PathLink& link);
/// Returns whether the link leads into a container: an index, a key or an element.
bool is_element(const PathLink& link);
/// Returns the number of links up to the container, before the first index, key or element; all links if there is none.
size_t container_end(const std::vector<PathLink>& links);

}  // namespace tidemark
