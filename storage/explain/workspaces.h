// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Workspaces of cuBLAS in PyTorch's memory: one for each thread and stream that multiplies matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The workspaces that are allocated at the context's time point.
struct Workspaces {
    std::vector<AllocationIndex> all;  ///< by age
    int64_t bytes = 0;
    size_t streams = 0;  ///< number of different streams
};
Workspaces find_workspaces(const AnalysisContext& context);

/// PyTorch's default cuBLAS workspace sizes before Hopper (":4096:2:16:8"), and since Hopper.
constexpr int64_t small_workspace = 8'519'680, large_workspace = 32 << 20;

}  // namespace tidemark
