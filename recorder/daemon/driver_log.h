// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes driver memory from TIDEMARK_DRIVER records and matches it with the allocator's segments. Records and segment
// events arrive in either order; the later one triggers the match.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recorder/daemon/definitions.h"
#include "recorder/daemon/device_replay.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class DriverLog {
public:
    DriverLog(StreamingWriter& writer, const Definitions& definitions, const TickClock& clock)
        : writer_(writer), definitions_(definitions), clock_(clock) {}

    void on_record(const tidemark_record& record, const ThreadDefinitions& thread);
    void segments_changed(int device, const std::vector<SegmentChange>& changes);

    /// Returns the bytes of driver memory on a device; nothing while driver calls are not recorded.
    std::optional<int64_t> bytes_on(int device) const;
    /// Returns the fewest bytes of driver memory on a device between two trace times of the last seconds; nothing while
    /// driver calls are not recorded.
    std::optional<int64_t> least_bytes_on(int device, int64_t from, int64_t until) const;
    /// Returns the trace time when driver memory of a device last changed; INT64_MIN / 2 before the first change.
    int64_t last_change(int device) const;
    /// Returns the devices that appear in records.
    std::vector<int> devices() const;
    /// Returns the number of contexts created on a device.
    int64_t contexts_on(int device) const;
    /// Returns the trace time when the last context was created; 0: before the trace.
    int64_t last_context_on(int device) const;
    struct ModuleLoad {
        int64_t time;         ///< trace time
        uint64_t code_bytes;  ///< of its image; its size on the device is unknown
    };
    /// Returns the modules loaded on a device, in order. Valid until the next record.
    std::span<const ModuleLoad> modules_on(int device) const;

    /// Returns the ranges of time (from, until) without driver calls. Called once, at the end.
    std::vector<std::pair<int64_t, int64_t>> gaps(int64_t end) const;

private:
    struct Live {
        int64_t id = 0;
        uint64_t size = 0, handle = 0;
        int64_t time = 0;
        bool is_matched = false;
    };
    struct KnownSegment {
        uint64_t end = 0;
        uint32_t position = no_segment;
        int64_t time = 0;
    };
    struct Device {
        std::map<uint64_t, Live> live[TIDEMARK_MEMORY_ARRAY + 1];  ///< by kind, by address or handle
        std::map<uint64_t, KnownSegment> segments;
        int64_t bytes = 0, last_change = INT64_MIN / 2, contexts = 0, last_context = 0;
        std::deque<std::pair<int64_t, int64_t>> levels;  ///< the latest values of `bytes`, with the time of each change
        int64_t bytes_before_levels = 0;
        std::vector<ModuleLoad> modules;
        bool has_pools = false;
    };

    void allocated(const tidemark_record& record, const ThreadDefinitions& thread);
    void freed(const tidemark_record& record);
    void pool_changed(const tidemark_record& record, const ThreadDefinitions& thread, bool more);
    void context_destroyed(int device, int64_t time);
    void put(Device& device, const tidemark_record& record, const ThreadDefinitions& thread, uint64_t bytes);
    void end(Device& device, uint8_t memory, uint64_t address, int64_t time);
    static void change_bytes(Device& device, uint8_t memory, int64_t bytes, int64_t time);
    void match(Device& device, uint8_t memory, Live& live, uint32_t position);
    void match_record(Device& device, uint8_t memory, uint64_t address, Live& live);
    void match_segment(Device& device, uint64_t address, const KnownSegment& segment);

    StreamingWriter& writer_;
    const Definitions& definitions_;
    const TickClock& clock_;
    std::map<int, Device> devices_;
    bool is_recorded_ = false;
    std::optional<int64_t> unrecorded_since_;
    std::vector<std::pair<int64_t, int64_t>> unrecorded_;
};

}  // namespace tidemark::recorder
