// What the program tells about its run beside allocator events: steps, marks, named spans, settings, losses.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/daemon/definitions.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class RunStory {
public:
    RunStory(StreamingWriter& writer, const TickClock& clock) : writer_(writer), clock_(clock) {}

    /// False: it does not count, for the user tells what a step is.
    bool on_step(const tidemark_record& record);
    void on_mark(const tidemark_record& record, std::span<const std::byte> payload);
    void on_span(const tidemark_record& record, const ThreadDefinitions& thread);
    void on_meta(std::span<const std::byte> payload);
    void on_data_gap(const tidemark_record& record, std::span<const std::byte> payload);

    /// Settings of the allocator so far, values as JSON.
    const std::map<std::string, std::string>& settings() const { return settings_; }
    /// Sentences about what could not be recorded.
    const std::vector<std::string>& data_gaps() const { return data_gaps_; }
    void lose(const DataGap& data_gap);
    /// A part of the whole trace that is not recorded.
    void lose(DataGapReason reason, int64_t time, DataGapArguments arguments = {});

private:
    StreamingWriter& writer_;
    const TickClock& clock_;
    std::map<std::string, std::string> settings_;
    std::vector<std::string> data_gaps_;
    std::unordered_map<const ThreadDefinitions*, std::vector<int64_t>> open_spans_;
    Step last_step_;
    bool reported_by_user_ = false;
};

}  // namespace tidemark::recorder
