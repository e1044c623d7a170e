// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/graph_log.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark::recorder {

namespace {

enum Asker : uint8_t { asked_for_node, asked_for_label, asked_for_referrer };

}  // namespace

GraphLog::GraphLog(StreamingWriter& writer, const Definitions& definitions, Origins& origins, const TickClock& clock,
                   SourceLog& source, SiteLabels& sites, std::function<DeviceTrack*(uint32_t)> track)
    : writer_(writer),
      sites_(sites),
      memory_(std::move(track)),
      nodes_(writer, definitions, origins, clock, memory_, sites, asked_for_node),
      labels_(writer, nodes_, clock, memory_, sites, asked_for_label),
      referrers_(writer, clock, memory_, source, asked_for_referrer) {}

void GraphLog::on_record(const tidemark_record& record, std::span<const std::byte> payload,
                         const ThreadDefinitions& thread) {
    switch (record.kind) {
        case TIDEMARK_NODE: nodes_.on_node(record, payload, thread); break;
        case TIDEMARK_NODE_RUN:
            nodes_.on_run(record);
            labels_.on_gradient(record);
            break;
        case TIDEMARK_NODE_DESTROYED: nodes_.on_destroyed(record); break;
        case TIDEMARK_LABEL: {
            const StringId name = thread.text(record.label.name);
            nodes_.name_variable(record.label.identity, name);
            labels_.on_label(record, name);
            break;
        }
        case TIDEMARK_HEAP_SCAN: referrers_.on_scan(record, payload, thread); break;
        case TIDEMARK_REFERRER: referrers_.on_referrer(record, payload, thread); break;
        default: break;
    }
}

void GraphLog::on_answers(const std::vector<MemoryAnswer>& answers) {
    for (const MemoryAnswer& answer : answers) {
        memory_.count_answer(answer);
        switch (answer.ticket.asker) {
            case asked_for_node: nodes_.on_answer(answer); break;
            case asked_for_label: labels_.on_answer(answer); break;
            case asked_for_referrer: referrers_.on_answer(answer); break;
            default: break;
        }
    }
}

void GraphLog::report(int64_t time) {
    if (time > read_until_) {  // otherwise the rings were not read since the last report
        read_until_ = time;
        report({++commit_, time, false});
    }
}

void GraphLog::report_rest(int64_t time) { report({++commit_, time, true}); }

void GraphLog::report(const CommitTimePoint& commit) {
    labels_.report(commit);  // before the nodes that give the names are forgotten
    nodes_.report(commit);
    sites_.report(commit.is_last);
    referrers_.report(commit);
    report_count("graph.nodes_left_out", nodes_.left_out(), reported_left_out_);
    report_count("graph.memory_not_found", memory_.not_found(), reported_not_found_);
}

void GraphLog::report_count(const std::string& key, int64_t count, int64_t& reported) {
    if (count != reported) {
        writer_.meta(key, fmt::format("{}", count));
        reported = count;
    }
}

}  // namespace tidemark::recorder
