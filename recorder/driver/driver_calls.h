// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts CUPTI's callbacks into changes of memory.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "recorder/core/core.h"
#include "recorder/driver/cupti_library.h"
#include "recorder/driver/driver_memory.h"

namespace tidemark::recorder {

struct CallbackId {
    cupti::Domain domain;
    uint32_t id;
};
/// Returns the callbacks to enable. Disabled callbacks cost no time.
std::vector<CallbackId> wanted_callbacks();

/// Thread-safe.
class DriverCalls {
public:
    DriverCalls(const tidemark_api& core, const CuptiLibrary& cupti) : core_(core), cupti_(cupti) {}

    /// Handles a callback of CUPTI. Returns the changes of memory. Throws std::bad_alloc.
    DriverChanges on_callback(cupti::Domain domain, uint32_t id, const void* data);

    struct Place {
        DriverMemory::Block block;
        uint64_t events = 0;  ///< of its device so far
    };
    /// Returns the device memory that contains an address, if its allocation is an event of the running recording.
    std::optional<Place> place_of(uint64_t address);

private:
    DriverChanges on_resource(uint32_t id, const cupti::ResourceData& data);
    void call_begins(cupti::Domain domain, uint32_t id, const cupti::CallbackData& data);
    DriverChanges call_ended(cupti::Domain domain, uint32_t id, const cupti::CallbackData& data);
    int device_of(cupti::Context context) const;
    /// Numbers the events of the changes, under the lock: the order of the numbers is that of the memory.
    void number(DriverChanges& changes) const;

    const tidemark_api& core_;
    const CuptiLibrary& cupti_;
    std::mutex mutex_;
    DriverMemory memory_;
};

}  // namespace tidemark::recorder
