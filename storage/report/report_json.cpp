#include <nlohmann/json.hpp>

#include "storage/replay/moment.h"
#include "storage/report/json_parts.h"
#include "storage/report/report.h"

namespace tidemark {
namespace {

using nlohmann::ordered_json;

ordered_json layer_json(const std::optional<LayerKind>& layer) {
    return layer ? ordered_json(layer_word(*layer)) : ordered_json();
}

ordered_json allocation_json(const Trace& trace, AllocationRef memory) {
    return memory ? ordered_json(trace.devices[memory.device].allocation_id(memory.index)) : ordered_json();
}

ordered_json evidence_json(const Case& of, const Evidence& evidence) {
    const bool has_node = evidence.node != no_node && of.graph() != nullptr;
    return {{"text", evidence.text},
            {"event", or_null(evidence.event)},
            {"time_ns", or_null(evidence.time)},
            {"until_ns", or_null(evidence.until)},
            {"allocation", allocation_json(of.trace(), evidence.allocation)},
            {"node", has_node ? ordered_json(of.graph()->tables().nodes.id[evidence.node]) : ordered_json()},
            {"layer", layer_json(evidence.layer)}};
}

ordered_json fix_json(const Fix& fix) {
    return {{"text", fix.text},
            {"code", fix.code},
            {"bytes", or_null(fix.bytes)},
            {"per_round_bytes", or_null(fix.per_round)}};
}

template <class Items, class Write>
ordered_json array_of(const Items& items, Write&& write) {
    auto list = ordered_json::array();
    for (const auto& item : items) {
        list.push_back(write(item));
    }
    return list;
}

ordered_json finding_json(const Case& of, const Finding& finding) {
    return {{"kind", finding_word(finding.kind)},
            {"verdict", verdict_word(finding.verdict)},
            {"confidence", confidence_word(finding.confidence)},
            {"basis", finding.basis},
            {"title", finding.title},
            {"text", finding.text},
            {"bytes", finding.bytes},
            {"per_round_bytes", or_null(finding.per_round)},
            {"count", finding.count},
            {"since_ns", or_null(finding.since)},
            {"since_round", or_null(finding.since_round)},
            {"layer", layer_json(finding.layer)},
            {"line", finding.line},
            {"stack", frames_json(of.trace().stacks, finding.stack)},
            {"holder", finding.holder},
            {"evidence", array_of(finding.evidence, [&](const Evidence& item) { return evidence_json(of, item); })},
            {"fixes", array_of(finding.fixes, fix_json)},
            {"unknowns", finding.unknowns}};
}

ordered_json share_json(const Share& share) {
    return {{"name", share.name}, {"bytes", share.bytes}, {"share", share.of_total}};
}

}  // namespace

ordered_json report_json(const Told& told) {
    const Explanation& explanation = told.explanation;
    return {{"device", explanation.device},
            {"device_name", explanation.device_name},
            {"moment", {{"event", explanation.event}, {"time_ns", explanation.time}, {"text", explanation.moment}}},
            {"course", course_word(explanation.course)},
            {"headline", explanation.headline},
            {"total_bytes", explanation.total},
            {"shares", array_of(explanation.shares, share_json)},
            {"findings",
             array_of(explanation.findings, [&](const Finding& finding) { return finding_json(told.of, finding); })},
            {"unknowns", explanation.unknowns}};
}

}  // namespace tidemark
