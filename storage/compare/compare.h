// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares two states of memory: groups that exist in one only, groups that exist in both, and groups that grew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/attribution/attribution.h"
#include "storage/compare/renamed_files.h"
#include "storage/replay/alive_index.h"

namespace tidemark {

/// The state of one device of a trace.
struct StateOf {
    const Trace& trace;
    const DeviceHistory& device;
    const AliveIndex& live;
    TimePoint point;
    const Categories* categories = nullptr;  ///< see GroupOptions
};

struct Amounts {
    int64_t bytes = 0;  ///< of active blocks
    int64_t count = 0;  ///< of active blocks
    Amounts& operator+=(const Amounts& other) {
        bytes += other.bytes;
        count += other.count;
        return *this;
    }
};

/// How the memory of a group differs between A and B.
enum class RowChange : uint8_t { only_a, only_b, grown, shrunk, same };
/// Returns "only in A", ..., "grown", "shrunk", "same".
std::string_view change_word(RowChange change);

RowChange change_between(const Amounts& a, const Amounts& b);

struct CompareRow {
    std::string name;                 ///< as in AttributionGroup; that of B if both have the group
    std::string name_in_a;            ///< that of A; empty if A does not have the group
    std::vector<std::string> frames;  ///< for GroupBy::stack, innermost first: "train.py:42 forward"
    Amounts a, b;
    std::vector<StackId> stacks_in_a, stacks_in_b;  ///< all of GroupBy::stack, an example of a line or file
    bool moved = false;  ///< same functions, other line numbers: the program was edited between the runs

    int64_t difference() const { return b.bytes - a.bytes; }
    RowChange change() const { return change_between(a, b); }
};

struct Comparison {
    std::vector<CompareRow> rows;  ///< largest difference first; the sums of the rows are the totals
    Amounts a, b;
    std::vector<RenamedFile> renamed;  ///< files that count as one

    int64_t difference() const { return b.bytes - a.bytes; }
};

/// Compares two states by group. Groups match by name, not by address or id, so traces of different runs can be
/// compared. Stacks match if the texts of all their frames are equal (files without folders, a renamed file as in B).
/// The remaining stacks and lines are paired if they differ only in line numbers and no other of either state does.
Comparison compare(const StateOf& a, const StateOf& b, GroupBy by, const GroupOptions& options = {});

/// Returns the allocations of a row that are active in the state, ascending. `name` and `stacks`: those that the row
/// has in this state. `options`: those of the comparison.
std::vector<AllocationIndex> allocations_of_row(const StateOf& state, GroupBy by, const GroupOptions& options,
                                                const std::string& name, const std::vector<StackId>& stacks);

}  // namespace tidemark
