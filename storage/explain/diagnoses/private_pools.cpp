// #28: CUDA graphs and compiled code keep private pools; one more for each new shape.
#include <algorithm>
#include <cmath>
#include <map>

#include "storage/base/units.h"
#include "storage/breakdown/amount.h"
#include "storage/explain/diagnoses/all.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Of reserved memory; less does not explain where memory is.
constexpr double least_share = 0.1;
constexpr int64_t least_bytes = 1 << 20;

bool is_private(const AnalysisContext& context, const Segment& segment) {
    const Pool& pool = context.trace().pools[segment.pool];
    return segment.pool_known && (pool.owner[0] != 0 || pool.owner[1] != 0);
}

struct PrivatePools {
    std::vector<const Segment*> now;  ///< segments at the moment the case is about, by age
    std::map<uint32_t, int64_t> pools;
    int64_t bytes = 0;
    Trend trend;  ///< of bytes at the ends of rounds
};

Trend trend_of(const AnalysisContext& context, Amount& amount) {
    amount.settle();
    std::vector<int64_t> levels;
    for (const Iteration& iteration : context.iterations().all()) {
        levels.push_back(amount.at(iteration.last - 1).bytes);
    }
    return find_trend(levels);
}

PrivatePools find_pools(const AnalysisContext& context) {
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

/// Who has hold of a tensor in a private pool.
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

void report_growth(Finding& finding, const AnalysisContext& context, const PrivatePools& found, const Words& words) {
    const auto each = with("each", each_iteration(context, words));
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.title = words("CUDA graphs take {bytes} more {each}, in private pools", bytes, each);
    finding.text = {
        words("A CUDA graph needs its memory at fixed addresses, so PyTorch captures each into a private pool that "
              "nothing "
              "else may use. {pools} with {total} exist by {time_point}, and {each} adds {bytes}.",
              with("pools", words.plural(finding.count, "{n} private pool", "{n} private pools")),
              with("total", format_bytes(found.bytes)), with("time_point", time_point_name(context, words)), each,
              bytes),
        words("That happens when each new shape is captured (or compiled) anew and the old graphs are kept: the number "
              "of "
              "shapes decides how much memory goes.")};
    finding.fixes = {
        {words("Limit the shapes: pad batches to a few sizes, and capture once for each of these."),
         "size = next(s for s in (64, 128, 256, 512) if s >= len(batch))", finding.bytes, finding.per_iteration},
        {words("Let the graphs share one pool, if they never run at the same time and their outputs are copied out."),
         "pool = torch.cuda.graph_pool_handle()\nwith torch.cuda.graph(graph, pool=pool):\n    ...",
         {},
         {}},
        {words("With torch.compile, mark the dimension that changes as dynamic."),
         "torch._dynamo.mark_dynamic(batch, 0)",
         {},
         {}}};
}

void report_size(Finding& finding, const PrivatePools& found, const Words& words) {
    finding.title = words("{pools} for CUDA graphs reserve {bytes}",
                          with("pools", words.plural(finding.count, "{n} private pool", "{n} private pools")),
                          with("bytes", format_bytes(found.bytes)));
    finding.text = {
        words("A CUDA graph needs its memory at fixed addresses, so PyTorch captures each into a private pool that "
              "nothing else "
              "may use, and that empty_cache() leaves alone. It goes when the graph and the tensors in its pool go.")};
    finding.fixes = {
        {words("Let the graphs share one pool, if they never run at the same time and their outputs are copied out."),
         "pool = torch.cuda.graph_pool_handle()\nwith torch.cuda.graph(graph, pool=pool):\n    ...",
         {},
         {}}};
}

}  // namespace

void diagnose_private_pools(const AnalysisContext& context, const Words& words, Findings& findings, Progress&) {
    const PrivatePools found = find_pools(context);
    const bool grows = found.trend.shape == Shape::rising && !found.now.empty();
    const auto reserved = static_cast<double>(context.curves().value(Series::reserved, context.now()));
    if (found.bytes < least_bytes || (!grows && static_cast<double>(found.bytes) < least_share * reserved)) {
        return;
    }
    Finding finding;
    finding.kind = grows ? FindingKind::cuda_graph_pools_grow : FindingKind::private_pools;
    finding.severity = grows ? Severity::leak : Severity::background;
    finding.confidence = Confidence::certain;
    finding.basis = words("The allocator says of each segment which pool it belongs to.");
    finding.bytes = found.bytes;
    finding.count = static_cast<int64_t>(found.pools.size());
    finding.component = ComponentKind::private_pools;
    set_line(finding, context, found.now.back()->stack);
    finding.referrer = referrer_in(context, found, words);
    if (grows) {
        finding.per_iteration = std::llround(found.trend.per_iteration);
        const auto since =
            static_cast<size_t>(std::clamp<int64_t>(context.iterations().at(found.now.front()->alloc_event), 0,
                                                    static_cast<int64_t>(context.iterations().size()) - 1));
        set_since(finding, context, since);
        report_growth(finding, context, found, words);
        finding.evidence.push_back(
            at_iteration(context,
                         words("It begins in {iteration}",
                               with("iteration", iteration_name(context, words, static_cast<int64_t>(since)))),
                         static_cast<int64_t>(since)));
    } else {
        report_size(finding, found, words);
    }
    const Segment& newest = *found.now.back();
    Evidence segment = at_event(context,
                                words("The newest segment of a private pool: {bytes}",
                                      with("bytes", format_bytes(static_cast<int64_t>(newest.size)))),
                                newest.alloc_event + 1);
    segment.stack = newest.stack;
    finding.evidence.push_back(std::move(segment));
    finding.evidence.push_back(at_component(
        context,
        words("What of the pools no tensor uses, at {time_point}", with("time_point", time_point_name(context, words))),
        ComponentKind::private_pools));
    findings.push_back(std::move(finding));
}

}  // namespace tidemark
