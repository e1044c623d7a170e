// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes the autograd graph: nodes, labels of allocations, referrers of tensors.
//
// Messages come from many rings. So the destruction of a node may be read before its creation, its execution before the
// stack, and each of them before the events of the memory they name. Each part stores messages until they are complete,
// for a limited time, and passes them to the writer with a commit.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "recorder/daemon/allocation_finder.h"
#include "recorder/daemon/label_log.h"
#include "recorder/daemon/node_log.h"
#include "recorder/daemon/referrer_log.h"

namespace tidemark::recorder {

class GraphLog {
public:
    /// `track`: returns the track of a device, which it creates if it is new; nullptr for a device that the trace
    /// leaves out.
    GraphLog(StreamingWriter& writer, const Definitions& definitions, Origins& origins, const TickClock& clock,
             SourceLog& source, SiteLabels& sites, std::function<DeviceTrack*(uint32_t)> track);

    /// Handles NODE, NODE_RUN, NODE_DESTROYED, LABEL, HEAP_SCAN and REFERRER.
    void on_record(const tidemark_record& record, std::span<const std::byte> payload, const ThreadDefinitions& thread);
    void on_step() { nodes_.on_step(); }
    void on_answers(const std::vector<MemoryAnswer>& answers);

    /// Writes the complete messages. The caller calls this before each commit. `time`: trace time up to which the rings
    /// were read.
    void report(int64_t time);
    /// Writes all remaining messages. Called once, when no more messages arrive and all tracks have ended.
    void report_rest(int64_t time);

    /// Returns how many texts were longer than a trace can have.
    int64_t texts_cut() const { return referrers_.texts_cut(); }

private:
    void report(const CommitTimePoint& commit);
    void report_count(const std::string& key, int64_t count, int64_t& reported);

    StreamingWriter& writer_;
    SiteLabels& sites_;
    AllocationFinder memory_;
    NodeLog nodes_;
    LabelLog labels_;
    ReferrerLog referrers_;
    uint32_t commit_ = 0;
    int64_t read_until_ = INT64_MIN;
    int64_t reported_left_out_ = 0, reported_not_found_ = 0;
};

}  // namespace tidemark::recorder
