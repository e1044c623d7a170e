#include "storage/explain/workspaces.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tidemark {
namespace {

using namespace std::string_view_literals;

/// Whether an op is one that hands its work to cuBLAS: the last of "AddmmBackward0 > aten::mm".
bool multiplies_matrices(std::string_view op) {
    constexpr std::array names{"linear"sv, "mm"sv, "addmm"sv, "bmm"sv,  "baddbmm"sv, "matmul"sv,
                               "addmv"sv,  "mv"sv, "dot"sv,   "vdot"sv, "addbmm"sv,  "_addmm_activation"sv};
    const std::string_view name = op.substr(op.find_last_of(":> ") + 1);
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// By size and op, where the recorder did not say: such a block stays to the end.
bool looks_like_one(const Case& of, AllocationIndex a) {
    const Allocations& allocations = of.device().allocations;
    const auto requested = static_cast<int64_t>(allocations.requested[a]);
    // Nobody else asks for just so many bytes; 32 MiB many ask for.
    return allocations.free_event[a] == never &&
           (requested == small_workspace ||
            (requested == large_workspace && multiplies_matrices(of.trace().origins[allocations.origin[a]].op)));
}

bool is_workspace(const Case& of, AllocationIndex a) {
    if (!of.graph()) {
        return looks_like_one(of, a);
    }
    const Category category = of.graph()->categories.at({of.device_position(), a}, of.now_time());
    return category == Category::workspace ||
           ((category == Category::unknown || category == Category::temporary) && looks_like_one(of, a));
}

}  // namespace

Workspaces find_workspaces(const Case& of) {
    const Allocations& allocations = of.device().allocations;
    Workspaces found;
    std::set<uint32_t> streams;
    of.analysis().live().for_each_active(of.now(), [&](AllocationIndex a) {
        if (allocations.free_event[a] >= of.now() && is_workspace(of, a)) {
            found.all.push_back(a);
            found.bytes += static_cast<int64_t>(allocations.block_size[a]);
            if (allocations.segment[a] != no_segment) {
                streams.insert(of.device().segments[allocations.segment[a]].stream);
            }
        }
    });
    std::sort(found.all.begin(), found.all.end());
    found.streams = streams.size();
    return found;
}

}  // namespace tidemark
