// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares retention paths.
#pragma once

#include <span>
#include <string>

#include "storage/trace/graph_tables.h"

namespace tidemark {

struct GraphContext;

/// Returns the links up to the tensor, without the one that says it is a view: some elements of a container are views.
std::span<const PathLink> links_to_tensor(const Referrer& referrer);
/// Returns whether two links differ in nothing but the place in a container.
bool is_same_place(const PathLink& one, const PathLink& other);
/// Returns whether both paths have the same places, whatever elements of containers they lead through.
bool lead_alike(const Referrer& a, const Referrer& b);
/// Returns the name of the container that the path leads into; "" if it leads into none.
std::string container_name(const GraphContext& graph, const Referrer& referrer);

}  // namespace tidemark
