// What each allocation is to the program, over time.
//
// At any time the first of these that holds: parameter, buffer, optimizer state (from the allocation's birth: when they
// are seen is when somebody looked), gradient (from the moment observed), saved for backward (while an alive node holds
// it), input, workspace, communication (labels), output (a node made it, or a label), temporary (made during a
// backward pass or an optimizer step, or within an op, and none of the above), unknown.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

/// From `time` on (ns since trace start) the allocation is of this category.
struct CategoryChange {
    int64_t time = 0;
    Category category = Category::unknown;
};

/// Immutable; keeps a reference to the index. Thread: any.
class Categories {
public:
    explicit Categories(const GraphIndex& index);

    Category at(AllocationRef allocation, int64_t time) const;
    /// Its history: at least one entry (its birth), by time.
    std::vector<CategoryChange> history(AllocationRef allocation) const;
    /// The latest name given to it ("transformer.h.0.attn.weight"), or "".
    const std::string& name(AllocationRef allocation) const;

private:
    const GraphIndex& index_;
    std::vector<std::vector<uint32_t>> first_label_, labels_;  ///< per device, per allocation: positions in labels
};

}  // namespace tidemark
