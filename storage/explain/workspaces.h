// Scratch memory that cuBLAS keeps in PyTorch's memory: one piece for each thread and stream that multiplied matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Allocated at the moment the case is about.
struct Workspaces {
    std::vector<AllocationIndex> all;  ///< by age
    int64_t bytes = 0;
    size_t streams = 0;  ///< different ones they lie on
};
Workspaces find_workspaces(const AnalysisContext& context);

/// What PyTorch gives cuBLAS by default before Hopper (":4096:2:16:8"), and from Hopper on.
constexpr int64_t small_workspace = 8'519'680, large_workspace = 32 << 20;

}  // namespace tidemark
