// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Labels the allocations of light steps. The program sends no labels and no nodes for them, because each is one that an
// earlier step made at the same place: by the same line, in the same op and of the same size. They get the categories
// that most allocations from there had. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "storage/trace/graph_tables.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class SiteLabels {
public:
    explicit SiteLabels(StreamingWriter& writer) : writer_(writer), recent_(most_recent) {}

    /// Handles that an allocation got this row id. `is_light`: it belongs to a light step.
    void allocated(int64_t id, const AllocationRow& row, bool is_light);
    /// Handles that an allocation has a label, that a node saved it (`saved`), or that a node made it (`output` without
    /// a name).
    void labeled(int64_t id, Category category, StringId name);

    /// Writes the labels of the allocations in light steps before the last few commits: the labels of the step that
    /// they repeat have arrived. `all`: writes those of all.
    void report(bool all);

private:
    struct Site {
        uint32_t stack = 0, origin = 0;
        uint64_t bytes = 0;
        bool operator==(const Site&) const = default;
    };
    struct Hash {
        size_t operator()(const Site& site) const;
    };
    /// The number of allocations, of labels, and of nodes that saved one or made one.
    struct Labels {
        uint32_t allocated = 0, labeled = 0, saved = 0, made = 0;
        Category category = Category::unknown;  ///< of the latest label
        StringId name = 0;                      ///< of all labels; 0: they differ
    };
    struct Recent {
        int64_t id = no_allocation_row;
        Site site;
    };
    struct Light {
        int64_t id = 0, time = 0;
        Site site;
        uint32_t commit = 0;  ///< number of the last one before it
    };
    static constexpr size_t most_recent = 1 << 16, most_sites = 1 << 16;

    Recent& recent(int64_t id) { return recent_[static_cast<uint64_t>(id) % most_recent]; }
    void write(const Light& allocation);

    StreamingWriter& writer_;
    std::vector<Recent> recent_;  ///< the latest allocations with details, by row id
    std::unordered_map<Site, Labels, Hash> sites_;
    std::deque<Light> light_;
    uint32_t commit_ = 0;
};

}  // namespace tidemark::recorder
