// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Makes driver allocations the events of the devices where no caching allocator reports its own.
//
// PyTorch's caching allocator reports its events from the time on when PyTorch initializes CUDA. Until it is known
// whether that happens, driver allocations wait. SESSIONS.md has the rules.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "recorder/core/ring.h"
#include "recorder/daemon/device_track.h"

namespace tidemark::recorder {

/// Whose allocations are the events of the devices.
enum class EventOwner : uint8_t { undecided, caching_allocator, driver };

/// What is known of PyTorch in the program.
struct TorchUse {
    bool is_imported = false, uses_cuda = false;
};

class DriverEvents {
public:
    using TrackOf = std::function<DeviceTrack*(uint32_t device)>;
    DriverEvents(StreamingWriter& writer, RegionHeader& header, TrackOf track)
        : writer_(writer), header_(header), track_(std::move(track)) {}

    /// Handles a TIDEMARK_DRIVER record.
    void on_record(const tidemark_record& record, const ThreadDefinitions& thread);
    /// Handles the first state that a caching allocator reports. Returns false if driver allocations are the events.
    bool allocator_begins();
    /// Makes driver allocations the events, unless a caching allocator reports them.
    void own();
    /// Decides if enough time has passed. `at_end`: decides now.
    void decide(const std::function<TorchUse()>& torch, bool at_end);

    EventOwner owner() const { return owner_; }

private:
    using Clock = std::chrono::steady_clock;
    struct Waiting {
        tidemark_record record;
        const ThreadDefinitions* thread;
    };

    void emit(const tidemark_record& record, const ThreadDefinitions& thread);

    StreamingWriter& writer_;
    RegionHeader& header_;
    const TrackOf track_;
    EventOwner owner_ = EventOwner::undecided;
    std::vector<Waiting> waiting_;
    std::optional<Clock::time_point> first_;  ///< when the first one was read
    Clock::time_point last_look_;
};

}  // namespace tidemark::recorder
