// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory of all leaks together.
#pragma once

#include <span>
#include <vector>

#include "storage/explain/finding.h"

namespace tidemark {

/// Returns the allocations that the leaks among the findings of one device retain, each once, ascending.
std::vector<AllocationIndex> leaked_allocations(std::span<const Finding> findings);

}  // namespace tidemark
