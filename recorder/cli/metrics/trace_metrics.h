// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The metrics of traces and of programs that are being recorded.
#pragma once

#include "recorder/cli/explained.h"
#include "recorder/cli/metrics/open_metrics.h"
#include "recorder/cli/record/recorded_programs.h"
#include "storage/trace/recording_cost.h"

namespace tidemark::cli {

/// Adds what is known of a program whose trace has no name yet, or cannot be read.
void add_program(OpenMetrics& metrics, const RecordedProgram& program);

/// Adds one device of a trace, at its end. `cost`: nothing if it is unknown. The labels are pid, rank, device and
/// program, and `more`.
void add_device(OpenMetrics& metrics, const Explained& device, const std::optional<RecordingCostSummary>& cost,
                const MetricLabels& more);

}  // namespace tidemark::cli
