// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The parts of a timeline for one device. Internal to storage/convert.
#pragma once

#include "storage/convert/chrome_events.h"
#include "storage/convert/perfetto.h"

namespace tidemark::perfetto {

/// One device, and where its events go.
struct DeviceTimeline {
    const PerfettoDevice& device;
    const Words& words;
    ChromeEvents& events;
    int64_t process = 0;  ///< the number under which viewers show the device
    int64_t clock = 0;    ///< ns from the base of the file's clock to the start of the trace

    const AnalysisContext& context() const { return device.context; }
    const Trace& trace() const { return device.context.trace(); }
    const DeviceHistory& history() const { return device.context.device(); }
    /// Converts a time of the trace.
    int64_t at(int64_t time) const { return clock + time; }
};

/// The threads of a device's process, in the order in which they are shown. The last begins a group.
enum Thread : int64_t { findings_thread = 1, marks_thread, steps_thread, phases_thread, allocations_thread = 1000 };

/// Writes allocated and reserved memory, and the memory breakdown. Every peak is a point.
void write_counters(const DeviceTimeline& timeline);

/// Writes the lifetimes of the largest allocations.
void write_allocations(const DeviceTimeline& timeline, size_t most, PerfettoSummary& summary);

}  // namespace tidemark::perfetto
