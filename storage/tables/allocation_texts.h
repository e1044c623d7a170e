// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The texts of allocations in tables, by their keys: each is made once.
#pragma once

#include <string>

#include "storage/attribution/attribution.h"
#include "storage/tables/column.h"

namespace tidemark {

/// Keeps references to the trace and the device. Not thread-safe.
class AllocationTexts {
public:
    AllocationTexts(const Trace& trace, const DeviceHistory& device)
        : trace_(trace), device_(device), lines_(trace, device, GroupBy::line) {}

    // Each appends a text of the allocation to a column of repeated texts.
    void site(Column& column, AllocationIndex a);  ///< as in `tidemark top --by line`
    void module(Column& column, AllocationIndex a) const;
    void op(Column& column, AllocationIndex a) const;
    void phase(Column& column, AllocationIndex a) const;
    void stack(Column& column, AllocationIndex a) const { stack_of(column, device_.allocations.stack[a]); }
    /// All frames, outermost first: "main.py:31 main;net.py:12 forward".
    void stack_of(Column& column, StackId id) const;

private:
    const Origin& origin(AllocationIndex a) const { return trace_.origins[device_.allocations.origin[a]]; }

    const Trace& trace_;
    const DeviceHistory& device_;
    Grouper lines_;
};

}  // namespace tidemark
