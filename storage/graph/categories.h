// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The category of each allocation over time: its role in the program.
//
// At any time, the first category in this list that applies:
//   unsharded             from the alloc, if FSDP allocated it for parameters of all ranks (see distributed_memory.h)
//   parameter, buffer,    by a label; from the alloc, or from the previous label `unknown`, because the time of a label
//   optimizer state       is only the time of the observation
//   gradient              by a label, from the time of the observation; of FSDP and DTensors from the alloc
//   saved                 while an alive node saves it for backward
//   communication         by a label, or if DistributedDataParallel, FSDP or a collective allocated it; from the alloc
//   input, workspace      by a label; from the alloc, like a parameter: inputs of an op are recorded when the op ends
//   output                from the alloc, if a node produced it, or by a label; instead of input, if its stack computes
//                         something from what modules returned: it is first seen after a forward pass
//   temporary             from the alloc, if allocated in phase "backward" or "optimizer"; or if allocated in an op
//                         (its origin names the op) and freed before its thread allocated in another op or at another
//                         line
//   unknown               otherwise
// A label `unknown` ends all earlier labels. The category does not change after the owner has freed the memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

/// Returns whether a label is valid for an allocation's whole lifetime, no matter when it was recorded: all labels
/// except gradient.
bool is_valid_from_alloc(Category category);

/// Returns whether a referrer outside the graph (a module, an optimizer, a tensor's .grad) always retains memory of
/// this category.
bool is_retained_outside_graph(Category category);
/// Returns whether a model, an optimizer or a library always retains memory of this category.
bool is_retained_by_model_or_library(Category category);

/// The parts of a label's name: "exp_avg of GPT.h.0.weight as Shard(dim=0)".
struct LabelName {
    std::string_view state;       ///< of an optimizer: "exp_avg"; "": it is the tensor itself
    std::string_view tensor;      ///< "GPT.h.0.weight"
    std::string_view placements;  ///< of a DTensor: "Shard(dim=0)"; "": none
};
LabelName parts_of_label(std::string_view name);
/// Returns the tensor that a label's name is about.
std::string_view labeled_tensor(std::string_view name);

/// The allocation has this category from `time` on (ns since trace start).
struct CategoryChange {
    int64_t time = 0;
    Category category = Category::unknown;
};

/// Computed for all allocations at once, in well under a second for a million. Immutable; keeps a reference to the
/// index. Thread: any.
class Categories {
public:
    explicit Categories(const GraphIndex& index);

    const GraphIndex& index() const { return index_; }
    Category at(AllocationRef allocation, int64_t time) const;
    /// Returns the category from the alloc on; unknown for no allocation.
    Category first(AllocationRef allocation) const;
    /// Returns the later categories by time. Few allocations have any.
    std::span<const CategoryChange> later(AllocationRef allocation) const;
    /// Returns both: empty for no allocation.
    std::vector<CategoryChange> history(AllocationRef allocation) const;
    /// Returns the allocation's latest name ("transformer.h.0.attn.weight"), or "".
    const std::string& name(AllocationRef allocation) const;

private:
    void read_device(uint32_t device, const Lists& labels_of);

    const GraphIndex& index_;
    std::vector<Category> first_;           ///< per place
    std::vector<uint32_t> first_later_{0};  ///< later ones of the place p are [first_later_[p], first_later_[p + 1])
    std::vector<CategoryChange> later_;
    std::vector<uint32_t> name_;  ///< text, per place
};

}  // namespace tidemark
