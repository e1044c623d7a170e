// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorded lines of the program that use the container to which a retention path leads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/source_change.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// How code names a container.
struct Container {
    std::string_view name;  ///< "vectors" of `self.vectors`
    bool is_attribute = false;
    std::string owner;          ///< of an attribute: its class
    std::string_view file;      ///< of a variable; "": unknown
    std::string_view function;  ///< of a local variable, with its class
};
/// Returns the innermost variable or attribute on the first links; nothing if none has a name.
std::optional<Container> container_of(const GraphTables& tables, std::span<const PathLink> links);

/// A line that uses a container.
struct ContainerLine {
    SourcePlace place;
    size_t end = 0;  ///< position in the line's text behind the container's name
};

/// `rows.append(row)`, `rows[name].extend(part)`, `cache[key] = value`.
std::vector<ContainerLine> lines_that_store(const Trace& trace, const Container& container);
/// `rows.popleft()`, `del cache[key]`.
std::vector<ContainerLine> lines_that_remove(const Trace& trace, const Container& container);
/// `rows = []`.
std::vector<ContainerLine> lines_that_assign(const Trace& trace, const Container& container);

}  // namespace tidemark
