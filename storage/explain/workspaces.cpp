// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/workspaces.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "storage/explain/stack_categories.h"

namespace tidemark {
namespace {

using namespace std::string_view_literals;

/// Returns whether cuBLAS executes an op. Examines the last part of "AddmmBackward0 > aten::mm".
bool multiplies_matrices(std::string_view op) {
    constexpr std::array names{"linear"sv, "mm"sv, "addmm"sv, "bmm"sv,  "baddbmm"sv, "matmul"sv,
                               "addmv"sv,  "mv"sv, "dot"sv,   "vdot"sv, "addbmm"sv,  "_addmm_activation"sv};
    const std::string_view name = op.substr(op.find_last_of(":> ") + 1);
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Recognizes a workspace by its stack, or by size and op, if the recorder did not label it. Such a block is never
/// freed.
bool looks_like_one(const AnalysisContext& context, const std::vector<Maker>& makers, AllocationIndex a) {
    const Allocations& allocations = context.device().allocations;
    const auto requested = static_cast<int64_t>(allocations.requested[a]);
    // Only cuBLAS requests exactly this many bytes, but 32 MiB is a common size.
    return allocations.free_event[a] == never &&
           (makers[allocations.stack[a]] == Maker::workspace || requested == small_workspace ||
            (requested == large_workspace && multiplies_matrices(context.trace().origins[allocations.origin[a]].op)));
}

bool is_workspace(const AnalysisContext& context, const std::vector<Maker>& makers, AllocationIndex a) {
    if (!context.graph()) {
        return looks_like_one(context, makers, a);
    }
    const Category category = context.graph()->categories.at({context.device_position(), a}, context.now_time());
    return category == Category::workspace ||
           ((category == Category::unknown || category == Category::temporary) && looks_like_one(context, makers, a));
}

}  // namespace

Workspaces find_workspaces(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    Workspaces found;
    const std::vector<Maker> makers = makers_of_stacks(context.trace().stacks);
    std::set<uint32_t> streams;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        if (allocations.free_event[a] >= context.now() && is_workspace(context, makers, a)) {
            found.all.push_back(a);
            found.bytes += static_cast<int64_t>(allocations.block_size[a]);
            if (allocations.segment[a] != no_segment) {
                streams.insert(context.device().segments[allocations.segment[a]].stream);
            }
        }
    });
    std::sort(found.all.begin(), found.all.end());
    found.streams = streams.size();
    return found;
}

}  // namespace tidemark
