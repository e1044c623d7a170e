// Counters in PyTorch's own shapes: the table of torch.cuda.memory_summary() and the keys of memory_stats().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "storage/allocator/counters.h"

namespace tidemark::cli {

/// Character for character what torch.cuda.memory_summary() prints for these counters.
std::string memory_summary(const Counters& counters, int device);

/// torch.cuda.memory_stats(): its keys in its order. What a trace cannot tell is null.
nlohmann::ordered_json memory_stats(const Counters& counters, std::optional<int64_t> max_split_size);

}  // namespace tidemark::cli
