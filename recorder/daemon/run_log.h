// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records of the run besides allocator events: steps, marks, named spans, settings, data gaps.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/daemon/definitions.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class RunLog {
public:
    RunLog(StreamingWriter& writer, const TickClock& clock) : writer_(writer), clock_(clock) {}

    /// Returns false for an optimizer step that does not count because the user reports steps.
    bool on_step(const tidemark_record& record);
    void on_mark(const tidemark_record& record, std::span<const std::byte> payload);
    /// Returns the event number for a device and a sequence number; nothing if it is not known yet.
    using NumberOf = std::function<std::optional<uint64_t>(uint32_t device, uint64_t sequence)>;
    /// Writes the marks whose event numbers are known.
    void write_marks(const NumberOf& number_of);
    void on_span(const tidemark_record& record, const ThreadDefinitions& thread);
    void on_meta(std::span<const std::byte> payload);
    void on_data_gap(const tidemark_record& record, std::span<const std::byte> payload);

    /// Handles that the user pauses the details at `time`, and resumes them. Times are ns since trace start.
    void details_paused(int64_t time);
    void details_resumed(int64_t paused, int64_t time);

    /// Returns the settings of the allocator so far, with values as JSON.
    const std::map<std::string, std::string>& settings() const { return settings_; }
    /// Returns whether the program has sent this version, such as "torch_version".
    bool has_version(const std::string& key) const { return versions_.contains(key); }
    /// Returns whether a data gap says why there are no allocator events.
    bool lacks_allocator() const { return lacks_allocator_; }
    /// Returns whether a data gap says why there are no driver calls.
    bool lacks_driver() const { return lacks_driver_; }
    /// Returns whether the caching allocator began after driver allocations were written as events.
    bool is_allocator_late() const { return is_allocator_late_; }
    /// Returns sentences about what could not be recorded.
    const std::vector<std::string>& data_gaps() const { return data_gaps_; }
    void add_data_gap(const DataGap& data_gap);
    /// Adds a data gap that applies to the whole trace. `time`: ns since trace start.
    void add_data_gap(DataGapReason reason, int64_t time, DataGapArguments arguments = {});

private:
    /// A mark with the numbers of earlier events of the devices, as the allocator counts them.
    struct WaitingMark {
        FileMark mark;
        std::vector<uint64_t> sequences;
    };

    StreamingWriter& writer_;
    const TickClock& clock_;
    std::deque<WaitingMark> marks_;
    std::map<std::string, std::string> settings_;
    std::set<std::string> versions_;
    std::vector<std::string> data_gaps_;
    bool lacks_allocator_ = false, lacks_driver_ = false, is_allocator_late_ = false;
    std::unordered_map<const ThreadDefinitions*, std::vector<int64_t>> open_spans_;
    Step last_step_;
    int64_t pause_ = 0;  ///< id of the annotation that is open in a pause
    bool reported_by_user_ = false;
};

}  // namespace tidemark::recorder
