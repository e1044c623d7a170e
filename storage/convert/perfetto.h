// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes a trace as a timeline for ui.perfetto.dev: memory as counters, allocations, steps and phases as spans, marks
// and findings as instants.
//
// The format is Chrome's JSON, not Perfetto's protocol buffers: torch.profiler writes it, so that events of both have
// one clock and fit into one file. Its times are µs since `baseTimeNanoseconds` (Unix epoch), and viewers of JSON
// ignore that base. So two files have one timeline only if their bases are equal.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "storage/convert/take_bytes.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

struct PerfettoOptions {
    size_t most_allocations = 5000;  ///< of a device, the largest; 0: all
    std::optional<int64_t> base;     ///< ns since the Unix epoch. Nothing: that of torch.profiler at the trace's start
};

/// What a timeline lacks.
struct PerfettoSummary {
    int64_t allocations = 0;           ///< that are spans
    int64_t allocations_left_out = 0;  ///< smaller than the others
    int64_t smallest = 0;              ///< bytes of the smallest that is a span
};

/// The explanation of one device.
struct PerfettoDevice {
    const AnalysisContext& context;
    const Explanation& explanation;
};

/// Returns the base of torch.profiler's times in files that it writes at this time (both ns since the Unix epoch): the
/// begin of a span of about three months.
int64_t profiler_base(int64_t utc_ns);

/// Writes the events of a timeline, without the file around them. Requires at least one device; all are of one trace.
/// Returns the error of `take`.
Result<PerfettoSummary> write_perfetto_events(std::span<const PerfettoDevice> devices, const PerfettoOptions& options,
                                              const Words& words, const TakeBytes& take);

/// Writes a whole file.
Result<PerfettoSummary> write_perfetto(std::span<const PerfettoDevice> devices, const PerfettoOptions& options,
                                       const Words& words, const TakeBytes& take);

}  // namespace tidemark
