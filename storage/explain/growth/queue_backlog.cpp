// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A queue whose consumer is slower than its producer retains what waits.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A deque counts as a queue if at least this part of its elements has passed through it, as a divisor.
constexpr size_t least_consumed = 10;

/// Returns whether the link into the container belongs to a class that is a queue: queue.Queue, asyncio.Queue,
/// multiprocessing.Queue, and what derives from them store their elements in one of these attributes.
bool is_of_queue_class(const GraphTables& tables, const PathLink& attribute) {
    const std::string owner = owner_of(tables, attribute);
    const std::string& name = tables.texts[attribute.name];
    return owner.ends_with("Queue") &&
           (name.starts_with("queue of ") || name.starts_with("_queue of ") || name.starts_with("_buffer of "));
}

/// Returns whether the container gave away its oldest elements while it grew: a tenth as many as it has now, each older
/// than all that remain, were retained beyond their iteration, and are freed.
bool is_consumed(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Allocations& allocations = context.device().allocations;
    const Site& site = *suspect.sites.front();
    const Iterations& iterations = *suspect.iterations;
    size_t consumed = 0;
    for (AllocationIndex a = 0; a < site.now.front(); ++a) {
        if (allocations.stack[a] == site.stack && allocations.alloc_event[a] >= 0) {
            consumed += iterations.at(allocations.free_event[a]) > iterations.at(allocations.alloc_event[a]);
        }
    }
    return consumed * least_consumed >= static_cast<size_t>(site.count);
}

bool is_queue(const AnalysisContext& context, const LeakSuspect& suspect) {
    const ReferrerGroup& paths = suspect.paths;
    if (!paths.varying) {
        return false;
    }
    const GraphTables& tables = context.graph()->tables();
    const std::string& container = tables.texts[paths.links[*paths.varying].function];
    return is_of_queue_class(tables, paths.links[*paths.varying - 1]) || container == "SimpleQueue" ||
           (container == "deque" && is_consumed(context, suspect));
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || !is_queue(context, suspect)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    const auto referrer = with("referrer", finding.referrer);
    finding.title = words("{tensors} wait in a queue: {referrer}", tensors, referrer);
    finding.text = {
        words("The consumer of the queue is slower than its producer, and no limit stops the producer: what "
              "nobody has taken out yet stays on the GPU."),
        retained_so_far(suspect, words)};
    const std::string copy = context.has_pytorch()
                                 ? host_copy_of(GpuLibrary::pytorch, "tensor")
                                 : host_copy_of(gpu_library_of(context.trace(), finding.stack), "array");
    const std::string put = copy.empty() ? copy : fmt::format("queue.put({})", copy);
    finding.fixes = {{words("Limit the queue: with maxsize, the producer waits for the consumer."),
                      "queue.Queue(maxsize=4)", suspect.bytes, suspect.per_iteration},
                     {words("Or put values in host memory into the queue."), put, suspect.bytes, suspect.per_iteration},
                     {words("Or make the consumer faster: several workers, or several elements at once."), "", {}, {}}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::queue_backlog{FindingKind::queue_backlog, classify};

}  // namespace tidemark
