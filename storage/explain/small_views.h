// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Small views: tensors that show a small part of a storage, and retain all of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "storage/trace/graph_tables.h"

namespace tidemark {

struct View {
    int64_t bytes = 0, storage = 0;
};

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
