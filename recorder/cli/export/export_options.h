// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The options of `tidemark export`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tidemark::cli {

struct ExportOptions {
    std::vector<std::string> traces, labels;
    std::string format, allocations = "alive";
    std::string output;  ///< empty: the name that the format has for it
    std::string at = "peak";
    std::optional<int> device;
    std::string profile;       ///< a file of torch.profiler to add to; empty: none
    size_t most_spans = 5000;  ///< allocations in a timeline; 0: all
    bool force = false;
};

}  // namespace tidemark::cli
