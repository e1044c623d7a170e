// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/check/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/report/phrases.h"

namespace tidemark::cli {
namespace {

/// Returns the reason why a higher peak may be missing; empty if the peak is certain.
std::string reason_to_doubt_peaks(const AnalysisContext& context, const Words& words) {
    if (context.device().truncated) {
        return words("the history does not begin with the program, so an earlier peak is unknown");
    }
    for (const DataGap& data_gap : context.trace().data_gaps) {
        const bool is_of_device = data_gap.device < 0 || data_gap.device == context.device().device;
        if (is_of_device && data_gap.kind == DataGapKind::recorder_overrun) {
            return words("the recorder missed events");
        }
    }
    return context.trace().clean_end ? "" : words("the recording did not end cleanly, so a later peak is unknown");
}

Measured measure_growth(const AnalysisContext& context, const Words& words) {
    constexpr size_t fewest_iterations = 5;  // see find_trend
    if (context.iterations().empty()) {
        return {{}, words("no steps were recorded, and nothing else repeats")};
    }
    if (context.iterations().size() < fewest_iterations) {
        const auto count = static_cast<int64_t>(context.iterations().size());
        return {{},
                words("the run has {iterations}, {needed} are needed",
                      with("iterations", iterations_words(context.iterations().source(), count, words)),
                      with("needed", fewest_iterations))};
    }
    const Trend& trend = context.allocated_trend();
    return {trend.shape == Shape::rising ? std::llround(trend.per_iteration) : 0, ""};
}

std::string value_text(const AnalysisContext& context, Quantity quantity, int64_t value, const Words& words) {
    const auto bytes = with("bytes", format_bytes(value));
    switch (quantity) {
        case Quantity::allocated_peak: return words("the peak of allocated memory is {bytes}", bytes);
        case Quantity::reserved_peak: return words("the peak of reserved memory is {bytes}", bytes);
        case Quantity::growth_per_step:
            return value == 0 ? words("allocated memory does not grow")
                              : words("allocated memory grows by {bytes} {each_iteration}", bytes,
                                      with("each_iteration", each_iteration(context.iterations().source(), words)));
    }
    return {};
}

/// "60 graphs retained (retained-graph), train.py:31 main, retained by list `results`"
std::string described(const Finding& finding, const Words& words) {
    const bool is_reported = finding.referrer.empty() || finding.title.find(finding.referrer) != finding.title.npos;
    return fmt::format(
        "{} ({}){}{}", finding.title, finding_word(finding.kind),
        finding.line.empty() ? "" : words(", ") + finding.line,
        is_reported ? "" : words(", ") + words("retained by {referrer}", with("referrer", finding.referrer)));
}

void set_cause(Verified& verified, const Finding& finding) {
    verified.line = finding.line;
    verified.referrer = finding.referrer;
    verified.path.clear();
    for (const RetentionStep& step : finding.path) {
        verified.path.push_back(step.bytes ? fmt::format("{}: {}", step_phrase(step), format_bytes(*step.bytes))
                                           : step_phrase(step));
    }
}

void explain_growth(Verified& verified, const Explanation& explanation, const Words& words) {
    const Finding* cause = nullptr;
    for (const Finding& finding : explanation.findings) {
        const bool is_larger = cause == nullptr || finding.per_iteration > cause->per_iteration;
        if (finding.severity == Severity::leak && finding.per_iteration && is_larger) {
            cause = &finding;
        }
    }
    if (cause != nullptr) {
        set_cause(verified, *cause);
        verified.findings = {std::string(finding_word(cause->kind))};
        verified.details.push_back(words("{bytes} of the growth: {finding}",
                                         with("bytes", format_bytes(*cause->per_iteration)),
                                         with("finding", described(*cause, words))));
    }
}

}  // namespace

Measured measure(const AnalysisContext& context, Quantity quantity, const Words& words) {
    if (quantity == Quantity::growth_per_step) {
        return measure_growth(context, words);
    }
    const Extremes peak =
        context.curves().peak(quantity == Quantity::allocated_peak ? Series::allocated : Series::reserved);
    return {peak.max, reason_to_doubt_peaks(context, words), peak.max_event};
}

Verified verify_size(const Explained& device, const SizeLimit& limit, const ExplainPeak& explain_peak,
                     const Words& words) {
    const AnalysisContext& context = *device.context;
    const Measured measured = measure(context, limit.quantity, words);
    Verified verified;
    verified.name = limit.name;
    verified.allowed = limit.allowed;
    verified.baseline = limit.baseline;
    verified.value = measured.bytes;
    const auto option = with("limit", limit.text);
    if (!measured.bytes) {
        verified.outcome = Outcome::unknown;
        verified.reason = words("{limit} cannot be decided: {reason}", option, with("reason", measured.doubt));
        return verified;
    }
    const auto value = with("value", value_text(context, limit.quantity, *measured.bytes, words));
    const int64_t excess = *measured.bytes - limit.allowed;
    if (excess <= 0 && measured.doubt.empty()) {
        verified.reason = words("{value}, within {limit}", value, option);
    } else if (excess <= 0) {
        verified.outcome = Outcome::unknown;
        verified.reason = words("{limit} cannot be decided: {value} in the recorded part, but {reason}", option, value,
                                with("reason", measured.doubt));
    } else {
        const auto more = with("excess", format_bytes(excess));
        verified.outcome = limit.doubt.empty() ? Outcome::broken : Outcome::unknown;
        verified.reason = limit.doubt.empty()
                              ? words("{value}, {excess} more than {limit}", value, more, option)
                              : words("{value}, {excess} more than {limit}, which is uncertain: {reason}", value, more,
                                      option, with("reason", limit.doubt));
        if (limit.quantity == Quantity::growth_per_step) {
            explain_growth(verified, device.explanation, words);
        } else {
            explain_peak(verified, measured.event);
        }
    }
    return verified;
}

Verified list_findings(const Explained& device, const char* name, const std::function<bool(const Finding&)>& is_listed,
                       const Words& words) {
    Verified verified;
    verified.name = name;
    for (const Finding& finding : device.explanation.findings) {
        if (is_listed(finding)) {
            if (verified.findings.empty()) {
                set_cause(verified, finding);
            }
            verified.findings.emplace_back(finding_word(finding.kind));
            verified.details.push_back(fmt::format("{}: {}", format_bytes(finding.bytes), described(finding, words)));
        }
    }
    return verified;
}

void add_referrer(Verified& verified, const Explanation& explanation, const Words& words) {
    const auto found = std::find_if(
        explanation.findings.begin(), explanation.findings.end(),
        [&](const Finding& finding) { return finding.line == verified.line && !finding.referrer.empty(); });
    if (found != explanation.findings.end()) {
        set_cause(verified, *found);
        verified.details.push_back(words("retained by {referrer}", with("referrer", verified.referrer)));
    }
}

}  // namespace tidemark::cli
