// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that the process allocated from the driver outside PyTorch's allocator, by library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// A rise of a few bytes per iteration is the library's own administration.
constexpr int64_t least_rise = 1 << 20;

/// The driver memory of one library.
struct LibraryMemory {
    std::string name;                            ///< "libcudart.so.13"; "" if it is unknown
    std::vector<const DriverAllocation*> taken;  ///< by time
    std::vector<const DriverAllocation*> alive;  ///< those that are alive at the context's time point
    int64_t bytes = 0;                           ///< total bytes of `alive`
    Trend trend;  ///< of its level at the ends of iterations; without PyTorch, after each of its allocations
    /// The program's stack that allocated most of the alive bytes; of native code if none is Python's; 0: unknown.
    StackId stack = 0;

    bool grows() const { return trend.shape == Shape::rising && trend.rise >= least_rise; }
    bool is_of(std::string_view word) const { return name.find(word) != std::string::npos; }
};

/// Returns the rows of Trace::driver_allocations that satisfy `wanted`, by library; most bytes first.
std::vector<LibraryMemory> memory_by_library(const AnalysisContext& context,
                                             const std::function<bool(const DriverAllocation&)>& wanted);
/// Returns the same for device memory outside the allocator.
std::vector<LibraryMemory> device_memory_by_library(const AnalysisContext& context);

/// Returns the position of the iteration in which the alive allocations of LibraryMemory::stack begin. Requires
/// iterations.
size_t growth_begin(const AnalysisContext& context, const LibraryMemory& library);

/// Returns the rises from there on; nothing if the memory grows evenly.
std::optional<Rises> rises_of_library(const AnalysisContext& context, const LibraryMemory& library);

/// Adds the first iteration of the growth, and the newest allocation.
void add_growth_evidence(Finding& finding, const AnalysisContext& context, const LibraryMemory& library,
                         const Words& words);

/// Returns NVML's figure for the process at that time minus all known memory; nothing if NVML was not sampled.
std::optional<int64_t> unexplained_at(const AnalysisContext& context, int64_t time);

/// Returns "the CUDA runtime (libcudart.so.13)", "an unrecorded library", ...
std::string library_words(const Words& words, std::string_view name);

}  // namespace tidemark
