// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/private_pools.h"

#include "storage/base/units.h"
#include "storage/breakdown/amount.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

Trend trend_of(const AnalysisContext& context, Amount& amount) {
    amount.settle();
    std::vector<int64_t> levels;
    for (const Iteration& iteration : context.iterations().all()) {
        levels.push_back(amount.at(iteration.last - 1).bytes);
    }
    return find_trend(levels);
}

/// Returns the referrer of the largest tensor in a private pool; "" if none is known.
std::string referrer_in(const AnalysisContext& context, const PrivatePools& found, const Words& words) {
    std::string text;
    if (!context.graph()) {
        return text;
    }
    const Allocations& allocations = context.device().allocations;
    int64_t most = 0;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        if (allocations.segment[a] == no_segment || bytes <= most ||
            !found.pools.contains(context.device().segments[allocations.segment[a]].pool)) {
            return;
        }
        const Retention retention = retention_of(*context.graph(), {context.device_position(), a});
        if (retention.referrer) {
            most = bytes;
            text = referrer_words(context.graph()->tables(), words, *retention.referrer);
        }
    });
    return text;
}

}  // namespace

bool is_private(const AnalysisContext& context, const Segment& segment) {
    const Pool& pool = context.trace().pools[segment.pool];
    return segment.pool_known && (pool.owner[0] != 0 || pool.owner[1] != 0);
}

PrivatePools find_private_pools(const AnalysisContext& context) {
    PrivatePools found;
    Amount bytes;
    for (const Segment& segment : context.device().segments) {
        if (!is_private(context, segment)) {
            continue;
        }
        const auto size = static_cast<int64_t>(segment.size);
        bytes.change(segment.alloc_event, size, 1);
        if (segment.free_event != never) {
            bytes.change(segment.free_event, -size, -1);
        }
        if (segment.alive_at(context.now())) {
            found.now.push_back(&segment);
            found.pools[segment.pool] += size;
            found.bytes += size;
        }
    }
    found.trend = trend_of(context, bytes);
    return found;
}

void describe_private_pools(Finding& finding, const AnalysisContext& context, const PrivatePools& found,
                            const Words& words) {
    finding.confidence = Confidence::certain;
    finding.basis = words("The allocator reports the pool of each segment.");
    finding.bytes = found.bytes;
    finding.count = static_cast<int64_t>(found.pools.size());
    finding.component = ComponentKind::private_pools;
    set_line(finding, context, found.now.back()->stack);
    finding.referrer = referrer_in(context, found, words);
}

void add_pool_evidence(Finding& finding, const AnalysisContext& context, const PrivatePools& found,
                       const Words& words) {
    const Segment& newest = *found.now.back();
    Evidence segment = at_event(context,
                                words("The newest segment of a private pool: {bytes}",
                                      with("bytes", format_bytes(static_cast<int64_t>(newest.size)))),
                                newest.alloc_event + 1);
    segment.stack = newest.stack;
    finding.evidence.push_back(std::move(segment));
    finding.evidence.push_back(at_component(context,
                                            words("The part of the pools that no tensor uses at {time_point}",
                                                  with("time_point", time_point_name(context, words))),
                                            ComponentKind::private_pools));
}

Fix shared_pool_fix(const Words& words) {
    return {
        words(
            "Share one pool between the graphs, if they never run at the same time and their outputs are copied out."),
        "pool = torch.cuda.graph_pool_handle()\nwith torch.cuda.graph(graph, pool=pool):\n    ...",
        {},
        {}};
}

}  // namespace tidemark
