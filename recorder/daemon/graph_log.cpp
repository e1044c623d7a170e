#include "recorder/daemon/graph_log.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark::recorder {

namespace {

enum Asker : uint8_t { asked_for_node, asked_for_label, asked_for_holder };

}  // namespace

GraphLog::GraphLog(LiveWriter& writer, const Definitions& definitions, Origins& origins, const TickClock& clock,
                   std::function<DeviceTrack&(uint32_t)> track)
    : writer_(writer),
      memory_(std::move(track)),
      nodes_(writer, definitions, origins, clock, memory_, asked_for_node),
      labels_(writer, nodes_, clock, memory_, asked_for_label),
      holders_(writer, clock, memory_, asked_for_holder) {}

void GraphLog::on_record(const tidemark_record& record, std::span<const std::byte> payload,
                         const ThreadDefinitions& thread) {
    switch (record.kind) {
        case TIDEMARK_NODE: nodes_.on_node(record, payload, thread); break;
        case TIDEMARK_NODE_RUN:
            nodes_.on_run(record);
            labels_.on_gradient(record);
            break;
        case TIDEMARK_NODE_DIED: nodes_.on_death(record); break;
        case TIDEMARK_LABEL: {
            const StringId name = thread.text(record.label.name);
            nodes_.name_variable(record.label.identity, name);
            labels_.on_label(record, name);
            break;
        }
        case TIDEMARK_HOLDER_SCAN: holders_.on_scan(record, payload, thread); break;
        case TIDEMARK_HOLDER: holders_.on_holder(record, payload, thread); break;
        default: break;
    }
}

void GraphLog::on_answers(const std::vector<MemoryAnswer>& answers) {
    for (const MemoryAnswer& answer : answers) {
        memory_.note(answer);
        switch (answer.ticket.asker) {
            case asked_for_node: nodes_.on_answer(answer); break;
            case asked_for_label: labels_.on_answer(answer); break;
            case asked_for_holder: holders_.on_answer(answer); break;
            default: break;
        }
    }
}

void GraphLog::tell(int64_t time) {
    if (time > read_until_) {  // else the rings were not looked at: what others wait for cannot have come
        read_until_ = time;
        tell({++commit_, time, false});
    }
}

void GraphLog::tell_rest(int64_t time) { tell({++commit_, time, true}); }

void GraphLog::tell(const CommitMoment& commit) {
    labels_.tell(commit);  // before the nodes that name them are forgotten
    nodes_.tell(commit);
    holders_.tell(commit);
    tell_count("graph.nodes_left_out", nodes_.left_out(), told_left_out_);
    tell_count("graph.memory_not_found", memory_.not_found(), told_not_found_);
}

void GraphLog::tell_count(const std::string& key, int64_t count, int64_t& told) {
    if (count != told) {
        writer_.meta(key, fmt::format("{}", count));
        told = count;
    }
}

}  // namespace tidemark::recorder
