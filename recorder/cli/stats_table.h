// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Counters in PyTorch's formats: the table of torch.cuda.memory_summary() and the keys of memory_stats().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "storage/allocator/counters.h"

namespace tidemark::cli {

/// Returns the text that torch.cuda.memory_summary() prints for these counters, in English as in PyTorch.
std::string memory_summary(const Counters& counters, int device);

/// Returns the keys of torch.cuda.memory_stats() in its order; null for values that a trace does not have.
nlohmann::ordered_json memory_stats(const Counters& counters, std::optional<int64_t> max_split_size);

}  // namespace tidemark::cli
