// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What retained the memory at an out-of-memory error: variables, containers, and exceptions that were being handled.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/oom/stored_exceptions.h"

namespace tidemark {

/// Memory that one variable, container or exception retained.
struct RetainedMemory {
    const Referrer* referrer = nullptr;   ///< of one of the allocations
    std::vector<AllocationIndex> memory;  ///< by age
    int64_t bytes = 0;
};

/// Reads the heap scan that ran when the error happened, or else the last one of an earlier error: what it found still
/// exists. Keeps a reference to the context. Immutable. Thread: any.
class RetentionAtError {
public:
    /// `alive`: the allocations that existed right before the error, by age.
    RetentionAtError(const AnalysisContext& context, const OtherEvent& oom, std::span<const AllocationIndex> alive);

    /// Returns what retained tensors other than parameters, gradients and optimizer state, most bytes first. Omits
    /// memory without a known referrer and that of by_exception().
    const std::vector<RetainedMemory>& groups() const { return groups_; }
    /// Returns, by variable, what the tracebacks of exceptions retained that the program was handling when it requested
    /// memory again; most bytes first. An exception that was stored retains groups().
    const std::vector<RetainedMemory>& by_exception() const { return by_exception_; }
    int64_t bytes_by_exception() const;
    bool is_by_exception(AllocationIndex a) const { return handled_.contains(a); }

private:
    void find(std::span<const AllocationIndex> alive, const StoredExceptions& stored);
    const Referrer* referrer_of(AllocationIndex a) const;

    const AnalysisContext& context_;
    std::unique_ptr<GraphContext> graph_;  ///< at the error; nullptr without a graph
    std::vector<RetainedMemory> groups_, by_exception_;
    std::unordered_set<AllocationIndex> handled_;
};

}  // namespace tidemark
