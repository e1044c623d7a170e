// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Small views: tensors that show a small part of a storage, and retain all of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/explain/finding.h"
#include "storage/text/words.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

struct View {
    int64_t bytes = 0, storage = 0;
};

/// Returns the fixes for views in a container: copies of what they show. `bytes`, `per_iteration`: of their storages;
/// `view`: typical, or the sum of all.
std::vector<Fix> fixes_of_views(const std::string& container, const View& view, int64_t bytes,
                                std::optional<int64_t> per_iteration, const Words& words);

/// The views that the heap scans found. Keeps a reference to the tables. Thread: any.
class SmallViews {
public:
    explicit SmallViews(const GraphTables& tables);

    /// Returns the view to which the referrer leads, if it retains a much larger storage: all views of this storage
    /// that the same scan found are together at most a quarter of it. Otherwise nothing.
    std::optional<View> of(const Referrer& referrer) const;

private:
    const GraphTables& tables_;
    std::map<std::pair<uint32_t, uint64_t>, int64_t> bytes_;  ///< of all views of a memory, by scan and memory
};

}  // namespace tidemark
