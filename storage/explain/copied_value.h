// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Code of a value with copies in host memory in place of GPU tensors in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/gpu_library.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// The links from a value to a tensor in it; none if it is the tensor.
using ValuePart = std::vector<PathLink>;

/// Returns code of the value with copies of these parts in host memory: "(step, x.detach().cpu())" for "(step, x)" and
/// the part [1], "{**output, "x": output["x"].detach().cpu()}" for "output" and the part ["x"]. Copies all items of a
/// dict if many of them are parts. Returns nothing for code of another form.
std::optional<std::string> with_copies(std::string_view value, const GraphTables& tables,
                                       std::span<const ValuePart> parts, GpuLibrary library);

/// Returns the code of a part of a value: "output["x"]", "x" of "(step, x)"; the whole value if that is unknown.
std::string name_of_part(const GraphTables& tables, std::string_view value, std::span<const PathLink> part);

}  // namespace tidemark
