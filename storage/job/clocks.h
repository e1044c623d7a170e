// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Compares the clocks of the nodes of a job. All ranks return from a barrier at the same moment, and those that train
// together end a step at nearly the same time, because its collectives wait for the slowest rank.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace tidemark {

struct JobMember;

/// Returns by node how far its clock is ahead of that of the first rank's node, in ns: the median over the meetings
/// that its first rank and the first rank of all have in common; with fewer than three meetings over the ends of at
/// least three steps; 0 with neither. `ranks`: by rank.
std::map<std::string, int64_t> compare_clocks(std::span<const JobMember* const> ranks);

}  // namespace tidemark
