// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What all parts of a PyTorch snapshot refer to. Internal to storage/convert.
#pragma once

#include <unordered_map>

#include "storage/convert/pickle_writer.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Writes stacks, streams, pools and times as values of the dict that is open. A stack and a frame are written once.
class SnapshotParts {
public:
    SnapshotParts(const Trace& trace, PickleWriter& pickle) : trace_(trace), pickle_(pickle) {}

    void frames(StackId stack) {
        pickle_.word("frames");
        if (const auto known = stacks_.find(stack); known != stacks_.end()) {
            pickle_.recall(known->second);
            return;
        }
        pickle_.begin_list();
        for (const FrameId frame : trace_.stacks.frames_of(stack)) {
            write_frame(frame);
        }
        pickle_.end_list();
        stacks_[stack] = pickle_.remember();
    }
    void stream(uint64_t handle) {
        pickle_.word("stream");
        pickle_.unsigned_integer(handle);
    }
    void stream_of(const Segment& segment) { stream(trace_.streams[segment.stream].handle); }
    void pool(const char* key, uint32_t pool) {
        pickle_.word(key);
        pickle_.pair(trace_.pools[pool].owner[0], trace_.pools[pool].owner[1]);
    }
    /// `time`: ns since trace start.
    void time(int64_t time) {
        pickle_.word("time_us");
        pickle_.integer((trace_.start_utc_ns + time) / 1000);
    }

private:
    void write_frame(FrameId id) {
        if (const auto known = frames_.find(id); known != frames_.end()) {
            pickle_.recall(known->second);
            return;
        }
        const Frame& frame = trace_.stacks.frame(id);
        pickle_.begin_dict();
        pickle_.word("name");
        pickle_.word(trace_.stacks.string(frame.function));
        pickle_.word("filename");
        pickle_.word(trace_.stacks.string(frame.file));
        pickle_.word("line");
        pickle_.integer(frame.line);
        pickle_.end_dict();
        frames_[id] = pickle_.remember();
    }

    const Trace& trace_;
    PickleWriter& pickle_;
    std::unordered_map<StackId, PickleWriter::Memo> stacks_;
    std::unordered_map<FrameId, PickleWriter::Memo> frames_;
};

}  // namespace tidemark
