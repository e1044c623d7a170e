// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The categories of a device's allocations at one time. Allocations newer than the graph are unknown.
#pragma once

#include "gui/model/graph_source.h"

namespace tidemark::gui {

/// Shares ownership of the graph, which may be older than a growing trace. Thread: any.
class CategoryLookup {
public:
    CategoryLookup() = default;
    /// `graph` may be null. `device`: PyTorch's index; `time`: ns since trace start.
    CategoryLookup(std::shared_ptr<const Graph> graph, int device, int64_t time);

    /// Returns whether any categories were recorded.
    bool known() const { return history_ != nullptr; }
    Category operator()(AllocationIndex a) const {
        return knows(a) ? graph_->categories.at(ref(a), time_) : Category::unknown;
    }
    bool knows(AllocationIndex a) const { return history_ != nullptr && a < history_->allocations.size(); }
    AllocationRef ref(AllocationIndex a) const { return {position_, a}; }  ///< in the graph's trace
    bool operator==(const CategoryLookup&) const = default;

private:
    std::shared_ptr<const Graph> graph_;
    const DeviceHistory* history_ = nullptr;  ///< of the graph's trace
    uint32_t position_ = 0;
    int64_t time_ = 0;
};

}  // namespace tidemark::gui
