// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/phrases.h"

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

std::string signed_bytes(int64_t bytes) { return (bytes > 0 ? "+" : "") + format_bytes(bytes); }

/// Returns "step 3 (1.234567 s)", or only one of the two.
std::string since_value(const Finding& finding, const Words& words) {
    const std::string time = finding.since ? format_time_point(*finding.since) : "";
    if (!finding.since_iteration) {
        return time;
    }
    const bool is_step = finding.unit == IterationSource::steps;
    const auto number = with("number", *finding.since_iteration);
    const std::string iteration = is_step ? words("step {number}", number) : words("iteration {number}", number);
    return time.empty() ? iteration : fmt::format("{} ({})", iteration, time);
}

}  // namespace

std::string severity_title(const Words& words, Severity severity) {
    switch (severity) {
        case Severity::leak: return words("Leak");
        case Severity::failure: return words("Failure");
        case Severity::waste: return words("Waste");
        case Severity::pattern: return words("Pattern");
        case Severity::background: return words("Background");
    }
    return {};
}

std::string confidence_title(const Words& words, Confidence confidence) {
    switch (confidence) {
        case Confidence::certain: return words("certain");
        case Confidence::likely: return words("likely");
        case Confidence::possible: return words("possible");
    }
    return {};
}

std::string page_title(const ReportInput& reported, const Words& words) {
    const Explanation& explanation = reported.explanation;
    const auto device = with("device", explanation.device);
    std::string title = explanation.device_name.empty()
                            ? words("Device {device}", device)
                            : words("Device {device} ({name})", device, with("name", explanation.device_name));
    const AnalysisContext& context = reported.context;
    const bool is_timed = has_times(context.trace(), context.device()) && !context.lacks_history();
    const std::string time = is_timed ? format_time_point(explanation.time) : "";
    for (const std::string& part : {explanation.time_point, time}) {
        title += part.empty() ? "" : words(", ") + part;
    }
    return title;
}

std::string total_phrase(const ReportInput& reported, const Words& words) {
    return reported.context.row().device_used ? words("total, as nvidia-smi shows it")
                                              : words("known total; nvidia-smi may show more");
}

std::vector<LabeledFact> facts_of(const Finding& finding, const Words& words) {
    std::vector<LabeledFact> facts;
    const auto add = [&](std::string label, std::string value) {
        if (!value.empty()) {
            facts.push_back({std::move(label), std::move(value)});
        }
    };
    add(words("Bytes"), finding.bytes == 0 && finding.per_iteration ? "" : format_bytes(finding.bytes));
    add(words("Count"), finding.count > 1 ? format_count(finding.count) : "");
    add(words("Grows"), finding.per_iteration
                            ? words("{bytes} {each_iteration}", with("bytes", signed_bytes(*finding.per_iteration)),
                                    with("each_iteration", each_iteration(finding.unit, words)))
                            : "");
    add(words("Since"), since_value(finding, words));
    add(words("Line"), finding.line);
    add(words("Retained by"), finding.referrer);
    return facts;
}

std::string time_point_argument(const Evidence& evidence) {
    return evidence.event  ? fmt::format("event:{}", *evidence.event)
           : evidence.time ? fmt::format("time:{}ns", *evidence.time)
                           : "";
}

std::string step_phrase(const RetentionStep& step) {
    return step.line.empty() ? step.text : fmt::format("{} ({})", step.text, step.line);
}

std::string evidence_ids(const ReportInput& reported, const Evidence& evidence, const Words& words) {
    std::vector<std::string> ids;
    if (evidence.allocation) {
        const DeviceHistory& device = reported.context.trace().devices[evidence.allocation.device];
        ids.push_back(words("allocation {id}", with("id", device.allocation_name(evidence.allocation.index))));
    }
    if (evidence.node != no_node && reported.context.graph() != nullptr) {
        ids.push_back(words("node {id}", with("id", reported.context.graph()->tables().nodes.id[evidence.node])));
    }
    if (evidence.until && has_times(reported.context.trace(), reported.context.device())) {
        ids.push_back(words("until {time}", with("time", format_time_point(*evidence.until))));
    }
    std::string text;
    for (const std::string& id : ids) {
        text += (text.empty() ? "" : words(", ")) + id;
    }
    return text;
}

std::string gain_phrase(const Finding& finding, const Fix& fix, const Words& words) {
    const auto bytes = with("bytes", format_bytes(fix.bytes.value_or(0)));
    const auto more = with("more", format_bytes(fix.per_iteration.value_or(0)));
    const auto iteration = with("each_iteration", each_iteration(finding.unit, words));
    if (fix.bytes && fix.per_iteration) {
        return words("Frees {bytes}, and {more} {each_iteration}.", bytes, more, iteration);
    }
    if (fix.bytes) {
        return words("Frees {bytes}.", bytes);
    }
    return fix.per_iteration ? words("Frees {more} {each_iteration}.", more, iteration) : "";
}

std::string confidence_phrase(const Finding& finding, const Words& words) {
    const std::string title = confidence_title(words, finding.confidence);
    return finding.basis.empty()
               ? title
               : words("{confidence}. {basis}", with("confidence", title), with("basis", finding.basis));
}

std::string size_phrase(const Finding& finding, const Words& words) {
    if (!finding.per_iteration) {
        return format_bytes(finding.bytes);
    }
    return words("{bytes}, {more} {each_iteration}", with("bytes", format_bytes(finding.bytes)),
                 with("more", signed_bytes(*finding.per_iteration)),
                 with("each_iteration", each_iteration(finding.unit, words)));
}

std::string folded_phrase(const Finding& finding, const Words& words) {
    const std::string size = size_phrase(finding, words);
    const bool is_reported =
        finding.title.find(format_bytes(finding.bytes)) != finding.title.npos && !finding.per_iteration;
    return is_reported ? finding.title : words("{title} ({size})", with("title", finding.title), with("size", size));
}

}  // namespace tidemark
