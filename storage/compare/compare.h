// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Two states of memory side by side: what is only in one, what is in both, what grew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/attribution/attribution.h"
#include "storage/replay/alive_index.h"

namespace tidemark {

/// A state of one device of a trace.
struct StateOf {
    const Trace& trace;
    const DeviceHistory& device;
    const AliveIndex& live;
    EventNumber event = 0;
    const Categories* categories = nullptr;  ///< see GroupOptions
};

struct Amounts {
    int64_t bytes = 0;  ///< of active blocks
    int64_t count = 0;  ///< of them
    Amounts& operator+=(const Amounts& other) {
        bytes += other.bytes;
        count += other.count;
        return *this;
    }
};

/// How a group's memory in B differs from that in A.
enum class Change : uint8_t { only_a, only_b, grown, shrunk, same };
/// "only in A", ..., "grown", "shrunk", "same"
std::string_view change_word(Change change);

struct CompareRow {
    std::string name;                 ///< as in AttributionGroup
    std::vector<std::string> frames;  ///< with GroupBy::stack, innermost first: "train.py:42 forward"
    Amounts a, b;
    bool moved = false;  ///< the same functions, but other lines of their files: the program was edited in between

    int64_t difference() const { return b.bytes - a.bytes; }
    Change change() const;
};

struct Comparison {
    std::vector<CompareRow> rows;  ///< largest difference first; they add up to the totals
    Amounts a, b;

    int64_t difference() const { return b.bytes - a.bytes; }
};

/// Groups are the same when they are called the same, not by address or id: traces of different runs compare. Stacks
/// are the same when the texts of all their frames are (files without folders); those left over are paired where they
/// differ in line numbers only, and nothing else of either state does.
Comparison compare(const StateOf& a, const StateOf& b, GroupBy by, const GroupOptions& options = {});

}  // namespace tidemark
