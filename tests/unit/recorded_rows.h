// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "storage/trace/trace.h"

namespace tidemark::test {

/// Returns the imported trace with the rows that a recorder adds.
inline Trace recorded(const Trace& imported) {
    Trace trace = imported;
    trace.processes = {{4711,
                        {0, 0, 2, "node7", "trainer"},
                        "python train.py --lr 0.1",
                        0,
                        trace.duration,
                        1,
                        {ProcessEnd::exception, "ValueError: no"}}};
    trace.nvml_pid = 99;
    trace.source_text.add("/home/anna/train.py", 7, "for batch in batches:");
    trace.source_text.add("/home/anna/train.py", 8, "    train(batch)");
    trace.steps = {{0, StepSource::user, 0, trace.duration / 2},
                   {1, StepSource::user, trace.duration / 2, std::nullopt}};
    trace.driver_allocations = {
        {DriverMemoryKind::device, 0, 77 << 20, 2 << 20, 5, std::nullopt, "libcublas.so.13", 1, false},
        {DriverMemoryKind::device, 0, 99 << 20, 2 << 20, 6, 7, "/home/anna/libanna.so", 0, false},
        {DriverMemoryKind::pinned, -1, 5 << 20, 1 << 20, 8, std::nullopt, "", 0, false},
        {DriverMemoryKind::device, 0, 0, 2 << 20, 9, std::nullopt, "libc10_cuda.so", 0, true}};
    trace.samples = {{10, 0, std::nullopt, 3 << 20, 80 << 20, SampleSource::nvml},
                     {10, 0, 4711, 2 << 20, 0, SampleSource::nvml_at_oom}};
    trace.data_gaps.push_back(
        {DataGapKind::not_recorded, 0, 3, 0, 0, DataGapReason::cupti_busy, {{"details", "\"nsys\"\n"}}, {}});
    trace.data_gaps.push_back(
        {DataGapKind::unknown, 0, 4, 7, 0, {DataGapReason::unknown, "blocks_differ"}, {}, "Seven blocks differ."});
    return trace;
}

}  // namespace tidemark::test
