// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The category of each allocation over time: what it is to the program.
//
// At any time the first of these that holds:
//   parameter, buffer,    by a label; from the alloc, or from the label `unknown` before it: the label's time is only
//   optimizer state       when it was observed
//   gradient              by a label, from the time it was observed
//   saved                 an alive node holds it as a saved tensor
//   input, workspace,     by a label; likewise from the alloc: inputs of an op are recorded when the op ends
//   communication
//   output                a node made it, or by a label; from the alloc
//   temporary             from the alloc: made in phase "backward" or "optimizer"; or made in an op (its origin says
//   which)
//                         and freed before its thread allocated anything in another op or from another line
//   unknown               nothing of these
// A label `unknown` ends all labels before it. Nothing changes any more once the memory was freed by its owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

/// Whether a label holds for an allocation's whole lifetime, whenever it was recorded: all but gradient.
bool holds_from_birth(Category category);

/// Whether something outside the graph retains memory of this category anyway: a module, an optimizer, a tensor's
/// .grad.
bool is_held_outside(Category category);

/// From `time` on (ns since trace start) the allocation is of this category.
struct CategoryChange {
    int64_t time = 0;
    Category category = Category::unknown;
};

/// Made for all allocations at once, well under a second for a million. Immutable; keeps a reference to the index.
/// Thread: any.
class Categories {
public:
    explicit Categories(const GraphIndex& index);

    const GraphIndex& index() const { return index_; }
    Category at(AllocationRef allocation, int64_t time) const;
    /// Returns its history by time: at least one entry (the alloc); empty for no allocation.
    std::span<const CategoryChange> history(AllocationRef allocation) const;
    /// Returns the latest name of it ("transformer.h.0.attn.weight"), or "".
    const std::string& name(AllocationRef allocation) const;

private:
    void read_device(uint32_t device, const Lists& labels_of);

    const GraphIndex& index_;
    std::vector<uint32_t> first_{0};  ///< changes of the allocation at place p are [first_[p], first_[p + 1])
    std::vector<CategoryChange> changes_;
    std::vector<uint32_t> name_;  ///< text, per place
};

}  // namespace tidemark
