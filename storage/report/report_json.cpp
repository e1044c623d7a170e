// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "storage/report/json_parts.h"
#include "storage/report/report.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

using nlohmann::ordered_json;

ordered_json component_json(const std::optional<ComponentKind>& component) {
    return component ? ordered_json(component_word(*component)) : ordered_json();
}

ordered_json allocation_json(const Trace& trace, AllocationRef memory) {
    return memory ? ordered_json(trace.devices[memory.device].allocation_id(memory.index)) : ordered_json();
}

ordered_json evidence_json(const AnalysisContext& context, const Evidence& evidence) {
    const bool has_node = evidence.node != no_node && context.graph() != nullptr;
    return {{"text", evidence.text},
            {"event", or_null(evidence.event)},
            {"time_ns", or_null(evidence.time)},
            {"until_ns", or_null(evidence.until)},
            {"allocation", allocation_json(context.trace(), evidence.allocation)},
            {"node", has_node ? ordered_json(context.graph()->tables().nodes.id[evidence.node]) : ordered_json()},
            {"component", component_json(evidence.component)}};
}

ordered_json path_json(const AnalysisContext& context, const RetentionStep& step) {
    const bool has_node = step.node != no_node && context.graph() != nullptr;
    return {{"kind", retention_step_word(step.kind)},
            {"text", step.text},
            {"bytes", or_null(step.bytes)},
            {"line", step.line},
            {"allocation", allocation_json(context.trace(), step.allocation)},
            {"node", has_node ? ordered_json(context.graph()->tables().nodes.id[step.node]) : ordered_json()}};
}

ordered_json source_line_json(const SourceLine& line) { return {{"line", line.number}, {"text", line.text}}; }

ordered_json fix_json(const Fix& fix) {
    return {{"text", fix.text},
            {"code", fix.code},
            {"diff", fix.diff},
            {"bytes", or_null(fix.bytes)},
            {"per_iteration_bytes", or_null(fix.per_iteration)}};
}

template <class Items, class Write>
ordered_json array_of(const Items& items, Write&& write) {
    auto list = ordered_json::array();
    for (const auto& item : items) {
        list.push_back(write(item));
    }
    return list;
}

ordered_json rises_json(const std::optional<Rises>& rises) {
    return rises ? ordered_json{{"count", rises->count}, {"bytes", rises->bytes}, {"iterations", rises->every}}
                 : ordered_json();
}

ordered_json memory_json(const FindingMemory& memory) {
    return memory.allocations.empty()
               ? ordered_json()
               : ordered_json{
                     {"event", memory.event}, {"bytes", memory.bytes}, {"allocations", memory.allocations.size()}};
}

ordered_json finding_json(const AnalysisContext& context, const Finding& finding) {
    return {
        {"kind", finding_word(finding.kind)},
        {"severity", severity_word(finding.severity)},
        {"confidence", confidence_word(finding.confidence)},
        {"basis", finding.basis},
        {"title", finding.title},
        {"text", finding.text},
        {"bytes", finding.bytes},
        {"per_iteration_bytes", or_null(finding.per_iteration)},
        {"rises", rises_json(finding.rises)},
        {"count", finding.count},
        {"since_ns", or_null(finding.since)},
        {"since_iteration", or_null(finding.since_iteration)},
        {"component", component_json(finding.component)},
        {"memory", memory_json(finding.memory)},
        {"line", finding.line},
        {"source", array_of(finding.source.lines, source_line_json)},
        {"stack", frames_json(context.trace().stacks, finding.stack)},
        {"referrer", finding.referrer},
        {"path", array_of(finding.path, [&](const RetentionStep& step) { return path_json(context, step); })},
        {"evidence", array_of(finding.evidence, [&](const Evidence& item) { return evidence_json(context, item); })},
        {"fixes", array_of(finding.fixes, fix_json)},
        {"unknowns", finding.unknowns}};
}

ordered_json share_json(const Share& share) {
    return {{"name", share.name}, {"bytes", share.bytes}, {"share", share.of_total}};
}

}  // namespace

ordered_json report_json(const ReportInput& reported) {
    const Explanation& explanation = reported.explanation;
    return {
        {"device", explanation.device},
        {"device_name", explanation.device_name},
        {"time_point", {{"event", explanation.event}, {"time_ns", explanation.time}, {"text", explanation.time_point}}},
        {"run_trend", run_trend_word(explanation.run_trend)},
        {"summary", explanation.summary},
        {"total_bytes", explanation.total},
        {"shares", array_of(explanation.shares, share_json)},
        {"findings", array_of(explanation.findings,
                              [&](const Finding& finding) { return finding_json(reported.context, finding); })},
        {"unknowns", explanation.unknowns}};
}

}  // namespace tidemark
