// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "storage/attribution/attribution.h"
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

constexpr Severity severities[] = {Severity::leak, Severity::failure, Severity::waste, Severity::pattern,
                                   Severity::background};

std::optional<Severity> severity_from_word(std::string_view word) {
    const auto* found = std::find_if(std::begin(severities), std::end(severities),
                                     [&](Severity severity) { return severity_word(severity) == word; });
    return found == std::end(severities) ? std::nullopt : std::optional(*found);
}

Status check_size(const char* option, const std::string& text) {
    const auto bytes = parse_bytes(text);
    return text.empty() || (bytes && *bytes >= 0)
               ? Status()
               : usage_error("--{option}: \"{text}\" is not a size; write 10GiB, 500MB or 0.", with("option", option),
                             with("text", text));
}

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

/// "60 graphs retained (retained-graph), train.py:31 main, retained by list `results`"
std::string described(const Finding& finding, const Words& words) {
    const bool is_reported = finding.referrer.empty() || finding.title.find(finding.referrer) != finding.title.npos;
    return fmt::format(
        "{} ({}){}{}", finding.title, finding_word(finding.kind),
        finding.line.empty() ? "" : words(", ") + finding.line,
        is_reported ? "" : words(", ") + words("retained by {referrer}", with("referrer", finding.referrer)));
}

/// Verifies the limits of one device.
class Verifier {
public:
    Verifier(const Explained& device, const Limits& limits, const Words& words)
        : context_(*device.context), reported_(device.explanation), limits_(limits), words_(words) {}

    std::vector<Verified> all() {
        if (!limits_.peak.empty()) {
            peak("max-peak", Series::allocated, limits_.peak);
        }
        if (!limits_.reserved.empty()) {
            peak("max-reserved", Series::reserved, limits_.reserved);
        }
        if (!limits_.growth.empty()) {
            growth();
        }
        if (!limits_.findings.empty()) {
            findings();
        }
        return std::move(verified_);
    }

private:
    void peak(const char* name, Series series, const std::string& limit);
    void explain_peak(Verified& verified, EventNumber event) const;
    void growth();
    void explain_growth(Verified& verified) const;
    void findings();
    bool is_forbidden(const Finding& finding) const;
    std::string reason_to_doubt_findings() const;
    std::string referrer_of(const std::string& line) const;

    const AnalysisContext& context_;
    const Explanation& reported_;
    const Limits& limits_;
    const Words words_;
    std::vector<Verified> verified_;
};

/// Returns the referrer of the first finding with this line; empty if there is none.
std::string Verifier::referrer_of(const std::string& line) const {
    const auto found = std::find_if(reported_.findings.begin(), reported_.findings.end(), [&](const Finding& finding) {
        return finding.line == line && !finding.referrer.empty();
    });
    return found == reported_.findings.end() ? "" : found->referrer;
}

void Verifier::explain_peak(Verified& verified, EventNumber event) const {
    const auto lines =
        attribution_at(context_.trace(), context_.device(), context_.analysis().live(), event, GroupBy::line);
    if (lines.empty()) {
        return;
    }
    verified.line = lines.front().name;
    verified.referrer = referrer_of(verified.line);
    verified.details.push_back(
        words_("reached at event:{event} ({time}); the largest part, {bytes}, is from {line}", with("event", event),
               with("time", format_time_point(context_.device().time_of_state(event))), with("line", verified.line),
               with("bytes", format_bytes(lines.front().block_bytes))));
    if (!verified.referrer.empty()) {
        verified.details.push_back(words_("retained by {referrer}", with("referrer", verified.referrer)));
    }
}

void Verifier::peak(const char* name, Series series, const std::string& limit) {
    Verified verified;
    verified.name = name;
    const Extremes peak = context_.curves().peak(series);
    verified.value = peak.max;
    verified.allowed = parse_bytes(limit);
    const std::string lacking = reason_to_doubt_peaks(context_, words_);
    const auto bytes = with("bytes", format_bytes(peak.max));
    const auto value =
        with("value", series == Series::allocated ? words_("the peak of allocated memory is {bytes}", bytes)
                                                  : words_("the peak of reserved memory is {bytes}", bytes));
    const auto option = with("limit", fmt::format("--{} {}", name, limit));
    if (peak.max > *verified.allowed) {
        verified.outcome = Outcome::broken;
        verified.reason = words_("{value}, {excess} more than {limit}", value,
                                 with("excess", format_bytes(peak.max - *verified.allowed)), option);
        explain_peak(verified, peak.max_event);
    } else if (!lacking.empty()) {
        verified.outcome = Outcome::unknown;
        verified.reason = words_("{limit} cannot be decided: {value} in the recorded part, but {reason}", option, value,
                                 with("reason", lacking));
    } else {
        verified.reason = words_("{value}, within {limit}", value, option);
    }
    verified_.push_back(std::move(verified));
}

void Verifier::explain_growth(Verified& verified) const {
    const Finding* cause = nullptr;
    for (const Finding& finding : reported_.findings) {
        const bool is_larger = cause == nullptr || finding.per_iteration > cause->per_iteration;
        if (finding.severity == Severity::leak && finding.per_iteration && is_larger) {
            cause = &finding;
        }
    }
    if (cause != nullptr) {
        verified.line = cause->line;
        verified.referrer = cause->referrer;
        verified.findings = {std::string(finding_word(cause->kind))};
        verified.details.push_back(words_("{bytes} of the growth: {finding}",
                                          with("bytes", format_bytes(*cause->per_iteration)),
                                          with("finding", described(*cause, words_))));
    }
}

void Verifier::growth() {
    constexpr size_t fewest_iterations = 5;  // see find_trend
    const auto option = with("limit", "--max-growth-per-step " + limits_.growth);
    const Trend& trend = context_.allocated_trend();
    Verified verified;
    verified.name = "max-growth-per-step";
    verified.allowed = parse_bytes(limits_.growth);
    if (context_.iterations().size() < fewest_iterations) {
        verified.outcome = Outcome::unknown;
        verified.reason =
            context_.iterations().empty()
                ? words_("{limit} cannot be decided: no steps were recorded, and nothing else repeats", option)
                : words_.plural(static_cast<int64_t>(context_.iterations().size()),
                                "{limit} cannot be decided: the run has {n} step, {needed} are needed",
                                "{limit} cannot be decided: the run has {n} steps, {needed} are needed", option,
                                with("needed", fewest_iterations));
        verified_.push_back(std::move(verified));
        return;
    }
    verified.value = trend.shape == Shape::rising ? std::llround(trend.per_iteration) : 0;
    const auto value =
        with("value", *verified.value == 0
                          ? words_("allocated memory does not grow")
                          : words_("allocated memory grows by {bytes} {each_iteration}",
                                   with("bytes", format_bytes(*verified.value)),
                                   with("each_iteration", each_iteration(context_.iterations().source(), words_))));
    verified.outcome = *verified.value > *verified.allowed ? Outcome::broken : Outcome::holds;
    verified.reason = verified.outcome == Outcome::broken ? words_("{value}, more than {limit}", value, option)
                                                          : words_("{value}, within {limit}", value, option);
    if (verified.outcome == Outcome::broken) {
        explain_growth(verified);
    }
    verified_.push_back(std::move(verified));
}

bool Verifier::is_forbidden(const Finding& finding) const {
    return std::any_of(limits_.findings.begin(), limits_.findings.end(), [&](const std::string& word) {
        return word == severity_word(finding.severity) || word == finding_word(finding.kind);
    });
}

/// Returns the reason why a finding may be missing; empty if the answer is certain.
std::string Verifier::reason_to_doubt_findings() const {
    const bool wants_leaks = std::any_of(limits_.findings.begin(), limits_.findings.end(), [](const std::string& word) {
        const auto kind = finding_from_word(word);
        return word == severity_word(Severity::leak) || (kind && *kind <= FindingKind::pinned_memory_growth);
    });
    if (wants_leaks && reported_.run_trend == RunTrend::too_short) {
        return words_("nothing repeats often enough to find growth");
    }
    const bool needs_graph = std::any_of(limits_.findings.begin(), limits_.findings.end(), [](const std::string& word) {
        const auto kind = finding_from_word(word);
        return kind && *kind <= FindingKind::growing_container;
    });
    return needs_graph && context_.graph() == nullptr ? words_("the graph was not recorded") : "";
}

void Verifier::findings() {
    Verified verified;
    verified.name = "no-finding";
    const auto option = with("limit", fmt::format("--no-finding {}", fmt::join(limits_.findings, ",")));
    for (const Finding& finding : reported_.findings) {
        if (is_forbidden(finding)) {
            verified.line = verified.findings.empty() ? finding.line : verified.line;
            verified.referrer = verified.findings.empty() ? finding.referrer : verified.referrer;
            verified.findings.emplace_back(finding_word(finding.kind));
            verified.details.push_back(fmt::format("{}: {}", format_bytes(finding.bytes), described(finding, words_)));
        }
    }
    const std::string lacking = reason_to_doubt_findings();
    const auto count = static_cast<int64_t>(verified.findings.size());
    if (count > 0) {
        verified.outcome = Outcome::broken;
        verified.reason = words_.plural(count, "{n} finding matches {limit}", "{n} findings match {limit}", option);
    } else if (!lacking.empty()) {
        verified.outcome = Outcome::unknown;
        verified.reason = words_("{limit} cannot be decided: {reason}", option, with("reason", lacking));
    } else {
        verified.reason = words_("no finding matches {limit}", option);
    }
    verified_.push_back(std::move(verified));
}

}  // namespace

Status check_limits(const Limits& limits) {
    if (limits.peak.empty() && limits.reserved.empty() && limits.growth.empty() && limits.findings.empty()) {
        return usage_error(
            "There is no limit to check: use --max-peak, --max-reserved, --max-growth-per-step or --no-finding.");
    }
    TIDEMARK_TRY(check_size("max-peak", limits.peak));
    TIDEMARK_TRY(check_size("max-reserved", limits.reserved));
    TIDEMARK_TRY(check_size("max-growth-per-step", limits.growth));
    for (const std::string& word : limits.findings) {
        if (!severity_from_word(word) && !finding_from_word(word)) {
            return usage_error(
                "\"{word}\" is not a finding; use a severity (leak, failure, waste, pattern, background) or a "
                "kind from explain --format json, such as retained-graph.",
                with("word", word));
        }
    }
    return {};
}

std::vector<Verified> verify(const Explained& device, const Limits& limits, const Words& words) {
    return Verifier(device, limits, words).all();
}

}  // namespace tidemark::cli
