// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The composition of memory at one point in time: parameters, gradients, optimizer state, ...
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Allocated block bytes at one state, by category.
struct Composition {
    std::array<int64_t, category_count> bytes{};

    int64_t of(Category category) const { return bytes[static_cast<size_t>(category)]; }
    int64_t total() const;
};
/// Returns the composition at a state. Without a graph, the category of all memory is unknown.
Composition composition_at(const AnalysisContext& context, EventNumber state);
/// Returns "parameters 8.00 MiB, gradients 8.00 MiB and everything else 12.0 KiB", most bytes first.
std::string composition_words(const Words& words, const Composition& composition);

/// Returns the allocations that exist at a state and are not yet freed by their owner, most bytes first.
std::vector<AllocationIndex> allocated_at(const AnalysisContext& context, EventNumber state);

}  // namespace tidemark
