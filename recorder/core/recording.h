// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One recording of this process: the shared memory, the recorder process, the rings of the threads.
//
// Never destroyed: any thread may be pushing a record when the recording ends, so the mapping stays. Its pages are
// released. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "recorder/core/core.h"
#include "recorder/core/ring.h"
#include "recorder/core/texts.h"

namespace tidemark::recorder {

class Recording;

/// A thread's ring with the state that only its thread uses.
struct ThreadRing : tidemark_ring {
    Recording* recording = nullptr;  ///< never destroyed
    RingHeader* header = nullptr;
    tidemark_record* slots = nullptr;
    uint64_t capacity = 0;
    bool congested = false;                ///< a push timed out; later ones fail at once until there is room
    int64_t waited = 0, longest_wait = 0;  ///< for room, in ns; not reported yet
    uint64_t waits = 0;
    Texts texts;
};

class Recording {
public:
    /// Creates the shared memory, starts the recorder process and waits until it is ready. Returns nullptr with the
    /// cause and the fix in `sentence` on failure. Otherwise `sentence` is a notice for the user, or empty.
    static Recording* start(const tidemark_options& options, std::string& sentence);

    bool active() const {
        return !ended_.load(std::memory_order_relaxed) &&
               region_.header().recorder_state.load(std::memory_order_relaxed) == RecorderState::ready;
    }
    /// Returns the number of this recording in this process, from 1.
    int number() const { return number_; }
    /// Returns the path of the trace; empty until the recorder has named it.
    const char* output() const {
        const RegionHeader& header = region_.header();
        return header.has_output.load(std::memory_order_acquire) != 0 ? header.output : "";
    }
    /// Returns a sentence of the recorder for the user about the end of the recording; empty if it has none.
    const char* end_notice() const {
        const RegionHeader& header = region_.header();
        switch (header.recorder_state.load(std::memory_order_acquire)) {
            case RecorderState::failed: return header.failure;
            case RecorderState::finished: return header.end_notice;
            default: return "";
        }
    }

    /// Returns a ring for the calling thread, or nullptr when all are in use.
    ThreadRing* claim_ring();
    /// Marks the ring as retired and deletes `ring`. The recorder frees the ring's slots once it has read them.
    static void retire(ThreadRing* ring);

    /// Sends a message; see tidemark_api::push.
    bool push(ThreadRing& ring, tidemark_record& record, const void* payload, uint32_t bytes) {
        // A ring that waited for room has something to report.
        if (bytes == 0 && record.ticks != 0 && ring.waits == 0) {
            record.extra = 0;
            record.bytes = 0;
            if (try_push_quickly(*ring.header, ring.slots, ring.capacity, record)) {
                return true;
            }
        }
        return push_slowly(ring, record, payload, bytes);
    }
    /// Returns the id of the text in the ring and defines it if it is new; 0: that failed.
    uint32_t text(ThreadRing& ring, std::string_view text);

    /// Asks for an NVML sample; see tidemark_api::sample_now.
    bool sample_now(uint32_t wait_ms);
    /// Returns whether the user has paused the details.
    bool details_paused() const { return region_.header().details_paused.load(std::memory_order_relaxed) != 0; }
    /// Returns how many heap scans for everything the user has requested.
    uint32_t full_scans_wanted() const { return region_.header().full_scans_wanted.load(std::memory_order_acquire); }
    /// Tells the recorder that the requests up to this number are served.
    void full_scans_made(uint32_t number) { region_.header().full_scans_made.store(number, std::memory_order_release); }
    /// Tells the recorder whether this process makes such scans.
    void serve_scans(bool serves) { region_.header().serves_scans.store(serves, std::memory_order_release); }
    /// Returns how many heap scans the recorder has requested.
    uint32_t scans_wanted() const { return region_.header().scans_wanted.load(std::memory_order_acquire); }
    /// Stores the blocks that the next heap scan looks for. Returns their number.
    size_t growing_blocks(std::span<uint64_t> addresses) const;
    bool driver_owns_events() const { return region_.header().driver_owns_events.load(std::memory_order_acquire) != 0; }
    /// Numbers `count` driver events of a device. Returns the number of the first one.
    uint64_t number_driver_events(uint32_t device, uint32_t count) {
        return device < most_devices ? driver_events_[device].fetch_add(count, std::memory_order_relaxed) : 0;
    }
    uint64_t driver_events(uint32_t device) const {
        return device < most_devices ? driver_events_[device].load(std::memory_order_relaxed) : 0;
    }
    /// Rejects further records. Returns true when the recorder completes the trace within `wait_ms`.
    bool end(uint32_t wait_ms);

private:
    Recording() = default;
    bool make_region(const tidemark_options& options, std::string& error);
    bool spawn_recorder(const tidemark_options& options, std::string& error) const;
    bool wait_until_ready(std::string& error);
    bool push_slowly(ThreadRing& ring, tidemark_record& record, const void* payload, uint32_t bytes);
    bool wait_for_room(ThreadRing& ring, uint64_t needed);
    bool recorder_is_gone() const;
    static void report_waits(ThreadRing& ring);
    void wake_recorder();

    static constexpr uint32_t most_devices = TIDEMARK_NO_DEVICE;

    Region region_;
    int region_file_ = -1;
    int number_ = 0;
    std::atomic<bool> ended_{false};
    std::array<std::atomic<uint64_t>, most_devices> driver_events_{};
};

}  // namespace tidemark::recorder
