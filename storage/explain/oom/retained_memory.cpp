// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/retained_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the time of the heap scan of this error, or else of the last error before it that was scanned; nothing if
/// there is none.
std::optional<int64_t> time_of_scan(const GraphTables& tables, int64_t error) {
    std::optional<int64_t> time;
    for (const HeapScan& scan : tables.scans) {
        if (scan.reason == ScanReason::out_of_memory && (!time || *time < error)) {
            time = scan.time;
        }
    }
    return time;
}

/// Returns whether the path starts in a frame of a traceback. Scans at an error run before its exception exists, so the
/// traceback is that of an earlier exception: one that is being handled, or that was stored.
bool is_of_exception(const Referrer& referrer) { return referrer.links.front().kind == PathLinkKind::exception; }

std::string key_of(const GraphContext& graph, const Referrer& referrer) {
    Retention retention;
    retention.referrer = &referrer;
    const std::string container = container_key(graph, retention);
    const PathLink& variable = referrer.links.front();
    return container.empty() ? fmt::format("{} {} {}", referrer_expression(graph.tables(), referrer), variable.function,
                                           variable.file)
                             : container;
}

using Groups = std::map<std::string, RetainedMemory>;

void add(Groups& groups, const std::string& key, const Referrer* referrer, AllocationIndex a, int64_t bytes) {
    RetainedMemory& group = groups[key];
    group.referrer = group.referrer ? group.referrer : referrer;
    group.memory.push_back(a);
    group.bytes += bytes;
}

std::vector<RetainedMemory> by_bytes(Groups&& groups) {
    std::vector<RetainedMemory> sorted;
    sorted.reserve(groups.size());
    for (auto& [key, group] : groups) {
        sorted.push_back(std::move(group));
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const RetainedMemory& a, const RetainedMemory& b) { return a.bytes > b.bytes; });
    return sorted;
}

}  // namespace

RetentionAtError::RetentionAtError(const AnalysisContext& context, const OtherEvent& oom,
                                   std::span<const AllocationIndex> alive)
    : context_(context) {
    if (!context.graph()) {
        return;
    }
    const int64_t error = context.device().time_of_state(oom.event);
    if (const auto scan = time_of_scan(context.graph()->tables(), error)) {
        graph_ = std::make_unique<GraphContext>(context.graph()->graph, error, *scan);
        find(alive, StoredExceptions(context, oom));
    }
}

int64_t RetentionAtError::bytes_by_exception() const {
    int64_t bytes = 0;
    for (const RetainedMemory& group : by_exception_) {
        bytes += group.bytes;
    }
    return bytes;
}

const Referrer* RetentionAtError::referrer_of(AllocationIndex a) const {
    const AllocationRef allocation{context_.device_position(), a};
    if (is_retained_by_model_or_library(graph_->categories.at(allocation, graph_->state.time()))) {
        return nullptr;
    }
    return retention_of(*graph_, allocation).referrer;
}

void RetentionAtError::find(std::span<const AllocationIndex> alive, const StoredExceptions& stored) {
    const Allocations& allocations = context_.device().allocations;
    std::map<StackId, const Referrer*> outermost, containers;
    std::vector<AllocationIndex> unknown;
    Groups groups, of_exception;
    for (const AllocationIndex a : alive) {
        const StackId stack = allocations.stack[a];
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        const Referrer* referrer = referrer_of(a);
        if (!referrer) {
            unknown.push_back(a);
            continue;
        }
        if (is_of_exception(*referrer)) {
            const bool is_handled = !stored.has(*referrer);
            add(is_handled ? of_exception : groups, key_of(*graph_, *referrer), referrer, a, bytes);
            if (is_handled) {
                handled_.insert(a);
            }
            continue;
        }
        const auto [outer, is_new] = outermost.try_emplace(stack, nullptr);
        if (is_new) {
            outer->second =
                outermost_referrer(*graph_, context_.device_position(), stack, graph_->referrers.scan()->time);
        }
        if (outer->second && is_alias(*graph_, stack, *referrer, *outer->second)) {
            referrer = outer->second;
        }
        if (container_end(referrer->links) < referrer->links.size()) {
            containers.try_emplace(stack, referrer);
        }
        add(groups, key_of(*graph_, *referrer), referrer, a, bytes);
    }
    // A container that is being made again holds its new elements in C before any variable refers to it.
    for (const AllocationIndex a : unknown) {
        if (const auto found = containers.find(allocations.stack[a]); found != containers.end()) {
            add(groups, key_of(*graph_, *found->second), found->second, a,
                static_cast<int64_t>(allocations.block_size[a]));
        }
    }
    groups_ = by_bytes(std::move(groups));
    by_exception_ = by_bytes(std::move(of_exception));
}

}  // namespace tidemark
