// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory of the recorded process alone, up to nvidia-smi's figure: what a row of the breakdown has, without the
// other processes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/breakdown/breakdown.h"

namespace tidemark {

/// Whose memory nvidia-smi's figure counts.
enum class FigureOf : uint8_t {
    process,  ///< the recorded one
    device,   ///< all programs, because NVML does not list the recorded process
};

struct ProcessMemory {
    int64_t reserved = 0;             ///< by the allocator: the components begin there
    std::vector<Component> outside;   ///< of the process, from the inside out; the last one may be unknown memory
    std::optional<int64_t> figure{};  ///< nvidia-smi's: the end of the components. Nothing if there is none

    /// Returns the end of the components, in bytes.
    int64_t top() const;
};

/// Returns the part of the row that `of` has.
ProcessMemory process_memory(const BreakdownRow& row, FigureOf of);

/// Returns what the samples of a device count, and the highest figure; nothing without samples.
struct HighestFigure {
    FigureOf of = FigureOf::process;
    int64_t bytes = 0;
};
std::optional<HighestFigure> highest_figure(const Trace& trace, int device);

}  // namespace tidemark
