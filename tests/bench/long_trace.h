// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Traces of any length for benchmarks, created by repeating a real trace.
#pragma once

#include <memory>

#include "storage/trace/trace.h"

namespace tidemark::bench {

/// Repeats the main device's events of `trace` until there are at least `events`. Between two repetitions, frees all
/// alive allocations and allocates those of the start again, so every state is a valid state of the allocator.
/// Adds samples of NVML and driver memory, as recordings have them.
std::shared_ptr<const Trace> repeat(const Trace& trace, EventNumber events);

}  // namespace tidemark::bench
