// What the program tells of its autograd graph: nodes, what allocations are, who holds tensors.
//
// Its messages come from many rings, so that a death may be read before the birth, a run before the stack, and any of
// them before the events of the memory they speak of. Each part keeps what it is told until it is complete, but never
// for long, and hands it to the writer with a commit.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "recorder/daemon/referrer_log.h"
#include "recorder/daemon/label_log.h"
#include "recorder/daemon/memory_finder.h"
#include "recorder/daemon/node_log.h"

namespace tidemark::recorder {

class GraphLog {
public:
    /// `track`: a device's, made when it is new.
    GraphLog(StreamingWriter& writer, const Definitions& definitions, Origins& origins, const TickClock& clock,
             std::function<DeviceTrack&(uint32_t)> track);

    /// One of NODE, NODE_RUN, NODE_DIED, LABEL, HOLDER_SCAN, HOLDER.
    void on_record(const tidemark_record& record, std::span<const std::byte> payload, const ThreadDefinitions& thread);
    void on_step() { nodes_.on_step(); }
    void on_answers(const std::vector<MemoryAnswer>& answers);

    /// Gives the writer what is due. To be called before each commit; `time`: up to which the rings were read.
    void report(int64_t time);
    /// Gives it the rest. Once, when nothing more comes and all tracks have ended.
    void report_rest(int64_t time);

private:
    void report(const CommitTimePoint& commit);
    void report_count(const std::string& key, int64_t count, int64_t& reported);

    StreamingWriter& writer_;
    MemoryFinder memory_;
    NodeLog nodes_;
    LabelLog labels_;
    ReferrerLog referrers_;
    uint32_t commit_ = 0;
    int64_t read_until_ = INT64_MIN;
    int64_t reported_left_out_ = 0, reported_not_found_ = 0;
};

}  // namespace tidemark::recorder
