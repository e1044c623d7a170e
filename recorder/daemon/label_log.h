// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Labels of allocations: their category (parameter, gradient, input) and name.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "recorder/daemon/allocation_finder.h"
#include "recorder/daemon/node_log.h"
#include "recorder/daemon/site_labels.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class LabelLog {
public:
    /// `asker`: identifies the questions of this log.
    LabelLog(StreamingWriter& writer, const NodeLog& nodes, const TickClock& clock, AllocationFinder& memory,
             SiteLabels& sites, uint8_t asker)
        : writer_(writer), nodes_(nodes), clock_(clock), memory_(memory), sites_(sites), asker_(asker) {}

    /// Handles a LABEL record. `name`: its text.
    void on_label(const tidemark_record& record, StringId name);
    /// Handles NODE_RUN of an AccumulateGrad node, whose gradient gets the name of its variable.
    void on_gradient(const tidemark_record& run);
    void on_answer(const MemoryAnswer& answer) { labels_.answer(answer.ticket.subject, answer.allocation); }

    /// Writes the complete labels. Skips labels that an allocation already has.
    void report(const CommitTimePoint& commit);

private:
    struct Label {
        int64_t time = 0;
        Category category = Category::unknown;
        StringId name = 0;
        uint32_t node = 0;  ///< AccumulateGrad node whose variable gives the name once it is known; 0: none
    };
    struct LatestLabel {
        Category category = Category::unknown;
        StringId name = 0;
        bool operator==(const LatestLabel&) const = default;
    };

    void await(const Label& label, uint8_t device, uint64_t address, uint64_t sequence);
    bool is_new(int64_t allocation, const LatestLabel& label);

    StreamingWriter& writer_;
    const NodeLog& nodes_;
    const TickClock& clock_;
    AllocationFinder& memory_;
    SiteLabels& sites_;
    const uint8_t asker_;
    AwaitingMemory<Label> labels_;
    /// The latest label of an allocation. When the first map is full, it replaces the second one.
    std::unordered_map<int64_t, LatestLabel> latest_labels_, older_labels_;
    uint32_t commit_ = 0;
};

}  // namespace tidemark::recorder
