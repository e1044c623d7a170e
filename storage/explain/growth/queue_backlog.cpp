// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A queue whose consumer is slower than its producer retains what waits.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/container_fixes.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/explain/value_parts.h"
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
           (is_in_deque(tables, paths.links[*paths.varying]) && is_consumed(context, suspect));
}

/// Returns the links that name the queue, without those into the library's object.
FilledContainer queue_of(const GraphTables& tables, const ReferrerGroup& paths, std::span<const PathLink> links) {
    const size_t element = *paths.varying;
    return {links, is_of_queue_class(tables, paths.links[element - 1]) ? element - 1 : element, element};
}

/// Returns whether the queue is an object of Python's libraries, not a bare container.
bool is_in_object(const FilledContainer& queue) { return queue.end < queue.element; }

/// Returns the fix that limits the queue: the change of the line that creates it or, if that is unknown, its name.
Fix fix_of_limit(const AnalysisContext& context, const FilledContainer& queue, const LeakSuspect& suspect,
                 const Words& words) {
    constexpr int64_t limit = 4;
    const std::vector<ValuePart> parts = parts_behind(context, queue.path.first(queue.end), queue.element + 1);
    const int64_t waiting = suspect.count / std::max<int64_t>(1, static_cast<int64_t>(parts.size()));
    const int64_t freed = waiting > limit ? suspect.bytes - suspect.bytes / waiting * limit : 0;
    Fix fix{words("Limit the queue: with maxsize, the producer waits for the consumer."), "queue.Queue(maxsize=4)",
            freed, suspect.per_iteration};
    const auto name = container_of(context.graph()->tables(), queue.path.first(queue.end));
    const auto lines = name ? lines_that_assign(context.trace(), *name) : std::vector<ContainerLine>();
    if (lines.size() == 1) {
        fix.diff = limit_queue_diff(context.trace(), lines.front().place, limit);
    }
    if (is_in_object(queue)) {
        const std::vector<PathLink> links(queue.path.begin(), queue.path.end());
        fix.code = fmt::format("{} = {}", object_expression(context.graph()->tables(), links, queue.end), fix.code);
    }
    return fix;
}

std::vector<Fix> fixes(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const GpuLibrary library =
        context.has_pytorch() ? GpuLibrary::pytorch : gpu_library_of(context.trace(), suspect.sites.front()->stack);
    const std::string copy = host_copy_of(library, library == GpuLibrary::pytorch ? "tensor" : "array");
    const FilledContainer queue = queue_of(context.graph()->tables(), suspect.paths, suspect.referrer->links);
    Fix put{words("Or put values in host memory into the queue."),
            copy.empty() ? copy : fmt::format("queue.put({})", copy), suspect.bytes, suspect.per_iteration};
    fit_to_storing_line(put, context, queue, library, words);
    return {fix_of_limit(context, queue, suspect, words),
            std::move(put),
            {words("Or make the consumer faster: several workers, or several elements at once."), "", {}, {}}};
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
    finding.fixes = fixes(context, suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::queue_backlog{FindingKind::queue_backlog, classify};

}  // namespace tidemark
