// Memory of the process that somebody took from the driver past PyTorch's allocator, put together by who asked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/explain/words.h"

namespace tidemark {

/// A few bytes for each round are bookkeeping nobody will notice.
constexpr int64_t least_rise = 1 << 20;

/// What one library took.
struct LibraryMemory {
    std::string name;                            ///< "libcudart.so.13"; "" when nobody told
    std::vector<const DriverAllocation*> taken;  ///< by time
    std::vector<const DriverAllocation*> alive;  ///< those of them that are there at the moment the case is about
    int64_t bytes = 0;                           ///< of `alive`
    Trend trend;                                 ///< of its level at the ends of rounds
    /// The user's line that asked for most of what is alive; 0: not known.
    StackId stack = 0;

    bool grows() const { return trend.shape == Shape::rising && trend.rise >= least_rise; }
    bool is_of(std::string_view word) const { return name.find(word) != std::string::npos; }
};

/// Those rows of Trace::driver_allocations that `wanted` accepts, by library; most bytes first.
std::vector<LibraryMemory> memory_by_library(const AnalysisContext& context,
                                             const std::function<bool(const DriverAllocation&)>& wanted);
/// The same for device memory beside the allocator.
std::vector<LibraryMemory> device_memory_by_library(const AnalysisContext& context);

/// Position of the round in which the pieces of LibraryMemory::stack that are alive began to come; there are rounds.
size_t began_in(const AnalysisContext& context, const LibraryMemory& library);

/// The round it began in, and the newest piece.
void add_growth_evidence(Finding& finding, const AnalysisContext& context, const LibraryMemory& library,
                         const Words& words);

/// What NVML counted for the process at that time beyond everything known; nothing: it was not asked.
std::optional<int64_t> unexplained_at(const AnalysisContext& context, int64_t time);

/// "the CUDA runtime (libcudart.so.13)", "an unrecorded library"
std::string library_words(const Words& words, std::string_view name);

}  // namespace tidemark
