// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Heap scans of the program, and the referrers of tensors that they found.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "recorder/daemon/allocation_finder.h"
#include "recorder/daemon/definitions.h"
#include "recorder/daemon/node_log.h"
#include "recorder/daemon/source_log.h"
#include "recorder/daemon/tick_clock.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

class ReferrerLog {
public:
    /// `asker`: identifies the questions of this log.
    ReferrerLog(StreamingWriter& writer, const TickClock& clock, AllocationFinder& memory, SourceLog& source,
                uint8_t asker)
        : writer_(writer), clock_(clock), memory_(memory), source_(source), asker_(asker) {}

    void on_scan(const tidemark_record& record, std::span<const std::byte> payload, const ThreadDefinitions& thread);
    /// Handles a REFERRER record. It belongs to the latest scan of its thread; without a scan it is ignored.
    void on_referrer(const tidemark_record& record, std::span<const std::byte> payload,
                     const ThreadDefinitions& thread);
    void on_answer(const MemoryAnswer& answer) { referrers_.answer(answer.ticket.subject, answer.allocation); }

    /// Writes the complete referrers.
    void report(const CommitTimePoint& commit);
    /// Returns how many texts were longer than a trace can have.
    int64_t texts_cut() const { return texts_cut_; }

private:
    struct Referrer {
        int64_t scan = 0;
        uint32_t node = 0;
        std::string links;  ///< as in the record
    };

    void write(const Referrer& referrer, int64_t allocation);
    /// Returns the part of a text that a trace can have.
    std::string_view limited(std::string_view text);

    StreamingWriter& writer_;
    const TickClock& clock_;
    AllocationFinder& memory_;
    SourceLog& source_;
    const uint8_t asker_;
    std::unordered_map<const ThreadDefinitions*, int64_t> scans_;  ///< latest scan, by thread
    AwaitingMemory<Referrer> referrers_;
    size_t pending_bytes_ = 0;
    uint32_t commit_ = 0;
    int64_t texts_cut_ = 0;
};

}  // namespace tidemark::recorder
