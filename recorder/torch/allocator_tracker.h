// Turns what the caching allocator does into records, numbered per device.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/torch/torch_versions.h"

namespace tidemark::plugin {

/// Registers the tracker and the out-of-memory observer, once per process. CUDA must be initialised.
void listen_to_allocator();

/// Events of a device count from its next SNAPSHOT event on; used by whoever takes the snapshot at the start.
void arm_at_next_snapshot();
/// Events of every device count from here on; only for devices whose allocator has not allocated yet.
void arm_now();
void disarm();

/// Takes a snapshot and tells, per device, how many events came before it: that marker is an exact cut, made under the
/// device's lock. Index: device.
struct Cut {
    SnapshotInfo snapshot;
    std::vector<uint64_t> events_before;
};
Cut snapshot_with_cut();

int device_count();
uint64_t events_so_far(int device);

}  // namespace tidemark::plugin
