// One recording of this process: the shared memory, the recorder process beside it, the rings of its threads.
//
// Never destroyed: any thread may be in the middle of a push when a recording ends, so its mapping stays (its pages
// are given back). Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "recorder/core/core.h"
#include "recorder/core/ring.h"
#include "recorder/core/texts.h"

namespace tidemark::recorder {

/// A thread's ring with what only its thread uses.
struct ThreadRing : tidemark_ring {
    RingHeader* header = nullptr;
    tidemark_record* slots = nullptr;
    uint64_t capacity = 0;
    bool congested = false;  ///< a push has waited in vain: do not wait again before there is room
    Texts texts;
};

class Recording {
public:
    /// Makes the shared memory and starts the recorder process; returns when that is ready. nullptr: `error` says why.
    static Recording* start(const tidemark_options& options, std::string& error);

    bool active() const {
        return !ended_.load(std::memory_order_relaxed) &&
               region_.header().recorder_state.load(std::memory_order_relaxed) == RecorderState::ready;
    }
    const std::string& output() const { return output_; }

    /// A ring for the calling thread, or nullptr when all are taken.
    ThreadRing* claim_ring();
    /// The thread of the ring has ended.
    static void retire(ThreadRing* ring);

    bool push(ThreadRing& ring, tidemark_record& record, const void* payload, uint32_t bytes);
    /// Defines the text in the ring's thread if it is new; 0 when that failed.
    uint32_t text(ThreadRing& ring, std::string_view text);

    bool sample_now(uint32_t wait_ms);
    /// No more records are taken. True when the recorder has finished the trace within the time.
    bool end(uint32_t wait_ms);

private:
    Recording() = default;
    bool make_region(const tidemark_options& options, std::string& error);
    bool spawn_recorder(const tidemark_options& options, std::string& error);
    bool wait_until_ready(std::string& error);
    bool wait_for_room(ThreadRing& ring, uint64_t needed);
    void wake_recorder();

    Region region_;
    int region_file_ = -1;
    std::string output_;
    std::atomic<uint32_t> next_serial_{1};
    std::atomic<bool> ended_{false};
};

}  // namespace tidemark::recorder
