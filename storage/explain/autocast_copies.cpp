// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/autocast_copies.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace tidemark {
namespace {

/// Fewer copies prove nothing: sizes may agree by chance, most of all among many allocations. A weight, its bias and
/// the copies of both are four of them.
constexpr int64_t fewest_copies = 4, most_others = 8;

/// Returns whether autocast runs this op in half precision. Compares the outermost op of the path: the op that the
/// program calls. A program that calls `to` makes no cached copy.
bool casts_its_weights(std::string_view op) {
    static constexpr std::array<std::string_view, 9> names{"aten::linear", "aten::matmul", "aten::addmm",
                                                           "aten::mm",     "aten::bmm",    "aten::baddbmm",
                                                           "aten::conv1d", "aten::conv2d", "aten::conv3d"};
    const std::string_view outermost = op.substr(0, op.find(" > "));
    return std::find(names.begin(), names.end(), outermost) != names.end();
}

}  // namespace

int64_t count_autocast_copies(const Trace& trace, const DeviceHistory& device, std::span<const Site* const> sites) {
    const Allocations& allocations = device.allocations;
    std::unordered_map<uint64_t, AllocationIndex> weights;  // requested bytes: the oldest
    const auto is_cast = [&](AllocationIndex a) { return casts_its_weights(trace.origins[allocations.origin[a]].op); };
    for (const Site* site : sites) {
        for (const AllocationIndex a : site->now) {
            if (!is_cast(a)) {
                const auto [found, is_new] = weights.emplace(allocations.requested[a], a);
                found->second = std::min(found->second, a);
            }
        }
    }
    int64_t copies = 0, all = 0;
    for (const Site* site : sites) {
        all += static_cast<int64_t>(site->now.size());
        for (const AllocationIndex a : site->now) {
            const auto weight = is_cast(a) ? weights.find(allocations.requested[a] * 2) : weights.end();
            copies += weight != weights.end() && weight->second < a;
        }
    }
    return copies >= fewest_copies && copies * most_others >= all ? copies : 0;
}

}  // namespace tidemark
