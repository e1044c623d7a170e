// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records the events of the caching allocator, numbered per device.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/torch/torch_versions.h"

namespace tidemark::plugin {

/// Attaches the tracker and the out-of-memory observer, once per process. Requires that CUDA is initialized.
void attach_tracker();

/// Starts counting the events of each device at its next SNAPSHOT event. The caller takes that snapshot.
void arm_at_next_snapshot();
/// Starts counting the events of every device now. Requires that the allocator has no memory.
void arm_now();
/// Stops counting.
void disarm();
/// Ignores events that come, until the next call.
void suspend_events(bool suspend);

/// A snapshot with the number of events before it, by device. The numbers are exact, because the allocator emits the
/// SNAPSHOT event under the device's lock.
struct Cut {
    SnapshotInfo snapshot;
    std::vector<uint64_t> events_before;
};
Cut snapshot_with_cut();

int device_count();
/// Where the allocator reports no events, driver allocations are the events.
uint64_t events_so_far(int device);

/// Returns the number of allocations minus that of frees, of all devices, since any time.
int64_t allocations_so_far();

/// Ends the step of each device: its next event belongs to the next step.
void count_step();
/// Returns whether at least `steps` steps in a row repeated known ones (step_patterns.h), on each device that had
/// events since the last call, and there is one. The latest step counts once the next one has an event.
bool devices_repeat_steps(int steps);

}  // namespace tidemark::plugin
