// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares two states of memory: groups that exist in one only, groups that exist in both, and groups that grew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/attribution/attribution.h"
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

struct CompareRow {
    std::string name;                 ///< as in AttributionGroup
    std::vector<std::string> frames;  ///< for GroupBy::stack, innermost first: "train.py:42 forward"
    Amounts a, b;
    bool moved = false;  ///< same functions, other line numbers: the program was edited between the runs

    int64_t difference() const { return b.bytes - a.bytes; }
    RowChange change() const;
};

struct Comparison {
    std::vector<CompareRow> rows;  ///< largest difference first; the sums of the rows are the totals
    Amounts a, b;

    int64_t difference() const { return b.bytes - a.bytes; }
};

/// Compares two states by group. Groups match by name, not by address or id, so traces of different runs can be
/// compared. Stacks match if the texts of all their frames are equal (files without folders). The remaining stacks are
/// paired if they differ only in line numbers and no other stack of either state does.
Comparison compare(const StateOf& a, const StateOf& b, GroupBy by, const GroupOptions& options = {});

}  // namespace tidemark
