// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Waits until a program uses the GPU, because only then its trace gets a name: of several processes that initialize
// CUDA, such as the compile workers of torch.compile, the first that allocates gets the name that the user chose.
#pragma once

#include <atomic>
#include <vector>

#include "recorder/daemon/program_monitor.h"
#include "recorder/daemon/ring_reader.h"
#include "recorder/daemon/session_folder.h"

namespace tidemark::recorder {

/// Looks for the first allocation among the records of the program. Leaves the records in the rings.
class FirstUse {
public:
    explicit FirstUse(const MappedRegion& region) : region_(region), seen_(region.ring_count(), 0) {}

    /// Returns whether memory of a GPU was allocated, or a quarter of a ring is filled: then it must be read.
    bool has_happened();

private:
    bool is_in_ring(uint32_t index);

    const MappedRegion& region_;
    std::vector<uint64_t> seen_;  ///< number of records seen, per ring
};

/// Returns true at the first use, and false when the recording ends without one: the program has ended or stopped it,
/// the session requests the end, or `stop_signal` is the number of a signal.
bool await_first_use(MappedRegion& region, pid_t program, const SessionFolder& session,
                     const std::atomic<int>& stop_signal);

}  // namespace tidemark::recorder
