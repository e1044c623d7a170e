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

constexpr Severity severities[] = {Severity::leak, Severity::failure, Severity::waste, Severity::pattern, Severity::background};

std::optional<Severity> severity_from_word(std::string_view word) {
    const auto* found = std::find_if(std::begin(severities), std::end(severities),
                                     [&](Severity severity) { return severity_word(severity) == word; });
    return found == std::end(severities) ? std::nullopt : std::optional(*found);
}

Status check_size(const char* option, const std::string& text) {
    const auto bytes = parse_bytes(text);
    return text.empty() || (bytes && *bytes >= 0)
               ? Status()
               : usage_error(fmt::format("--{}: \"{}\" is not a size; write 10GiB, 500MB or 0.", option, text));
}

/// Why a peak that was seen may not be the highest there was; empty: it is.
std::string what_peaks_lack(const AnalysisContext& context) {
    if (context.device().truncated) {
        return "the history does not reach back to the start, so that what was highest before is not known";
    }
    for (const DataGap& data_gap : context.trace().data_gaps) {
        const bool is_of_device = data_gap.device < 0 || data_gap.device == context.device().device;
        if (is_of_device && data_gap.kind == DataGapKind::recorder_overrun) {
            return "the recorder missed events";
        }
    }
    return context.trace().clean_end ? "" : "the recording was not ended, so that what came last is not known";
}

/// "60 graphs are kept alive (retained-graph), train.py:31 main, held by list `results`"
std::string described(const Finding& finding) {
    const bool is_reported = finding.referrer.empty() || finding.title.find(finding.referrer) != finding.title.npos;
    return fmt::format("{} ({}){}{}", finding.title, finding_word(finding.kind),
                       finding.line.empty() ? "" : ", " + finding.line, is_reported ? "" : ", held by " + finding.referrer);
}

/// Asks the questions of one device.
class Verifying {
public:
    Verifying(const Explained& device, const Limits& limits)
        : context_(*device.context), reported_(device.explanation), limits_(limits) {}

    std::vector<Verified> all() {
        if (!limits_.peak.empty()) {
            peak("max-peak", "allocated", Series::allocated, limits_.peak);
        }
        if (!limits_.reserved.empty()) {
            peak("max-reserved", "reserved", Series::reserved, limits_.reserved);
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
    void peak(const char* name, const char* words, Series series, const std::string& limit);
    void explain_peak(Verified& verified, EventNumber event) const;
    void growth();
    void explain_growth(Verified& verified) const;
    void findings();
    bool is_unwanted(const Finding& finding) const;
    std::string what_findings_lack() const;
    std::string referrer_of(const std::string& line) const;

    const AnalysisContext& context_;
    const Explanation& reported_;
    const Limits& limits_;
    std::vector<Verified> verified_;
};

/// Who holds what a line made, as far as a finding says so.
std::string Verifying::referrer_of(const std::string& line) const {
    const auto found = std::find_if(reported_.findings.begin(), reported_.findings.end(), [&](const Finding& finding) {
        return finding.line == line && !finding.referrer.empty();
    });
    return found == reported_.findings.end() ? "" : found->referrer;
}

void Verifying::explain_peak(Verified& verified, EventNumber event) const {
    const auto lines = attribution_at(context_.trace(), context_.device(), context_.analysis().live(), event, GroupBy::line);
    if (lines.empty()) {
        return;
    }
    verified.line = lines.front().name;
    verified.referrer = referrer_of(verified.line);
    verified.details.push_back(fmt::format("reached at event:{} ({}), most of it by {}: {}", event,
                                           format_time_point(context_.device().time_of_state(event)), verified.line,
                                           format_bytes(lines.front().block_bytes)));
    if (!verified.referrer.empty()) {
        verified.details.push_back("held by " + verified.referrer);
    }
}

void Verifying::peak(const char* name, const char* words, Series series, const std::string& limit) {
    Verified verified;
    verified.name = name;
    const Extremes peak = context_.curves().peak(series);
    verified.value = peak.max;
    verified.allowed = parse_bytes(limit);
    const std::string lacking = what_peaks_lack(context_);
    const std::string value = fmt::format("most {} memory was {}", words, format_bytes(peak.max));
    if (peak.max > *verified.allowed) {
        verified.outcome = Outcome::broken;
        verified.reason =
            fmt::format("{}, {} more than --{} {}", value, format_bytes(peak.max - *verified.allowed), name, limit);
        explain_peak(verified, peak.max_event);
    } else if (!lacking.empty()) {
        verified.outcome = Outcome::unknown;
        verified.reason =
            fmt::format("--{} {} cannot be told: {} as far as was recorded, but {}", name, limit, value, lacking);
    } else {
        verified.reason = fmt::format("{}, within --{} {}", value, name, limit);
    }
    verified_.push_back(std::move(verified));
}

void Verifying::explain_growth(Verified& verified) const {
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
        verified.details.push_back(fmt::format("{} of it: {}", format_bytes(*cause->per_iteration), described(*cause)));
    }
}

void Verifying::growth() {
    constexpr size_t fewest_iterations = 5;  // see find_trend
    const std::string option = "--max-growth-per-step " + limits_.growth;
    const std::string each = each_iteration(context_, Words(Language::english));
    const Trend& trend = context_.allocated_trend();
    Verified verified;
    verified.name = "max-growth-per-step";
    verified.allowed = parse_bytes(limits_.growth);
    if (context_.iterations().size() < fewest_iterations) {
        verified.outcome = Outcome::unknown;
        verified.reason =
            context_.iterations().empty()
                ? fmt::format("{} cannot be told: no steps were recorded, and nothing else repeats", option)
                : fmt::format("{} cannot be told: {} steps are too few to say what grows, {} are needed", option,
                              context_.iterations().size(), fewest_iterations);
        verified_.push_back(std::move(verified));
        return;
    }
    verified.value = trend.shape == Shape::rising ? std::llround(trend.per_iteration) : 0;
    const std::string value = *verified.value == 0
                                  ? "allocated memory does not grow"
                                  : fmt::format("allocated memory grows by {} {}", format_bytes(*verified.value), each);
    verified.outcome = *verified.value > *verified.allowed ? Outcome::broken : Outcome::holds;
    verified.reason =
        fmt::format("{}, {} {}", value, verified.outcome == Outcome::broken ? "more than" : "within", option);
    if (verified.outcome == Outcome::broken) {
        explain_growth(verified);
    }
    verified_.push_back(std::move(verified));
}

bool Verifying::is_unwanted(const Finding& finding) const {
    return std::any_of(limits_.findings.begin(), limits_.findings.end(), [&](const std::string& word) {
        return word == severity_word(finding.severity) || word == finding_word(finding.kind);
    });
}

/// Why something may be there though it was not found; empty: it is not there.
std::string Verifying::what_findings_lack() const {
    const bool wants_leaks = std::any_of(limits_.findings.begin(), limits_.findings.end(), [](const std::string& word) {
        const auto kind = finding_from_word(word);
        return word == severity_word(Severity::leak) || (kind && *kind <= FindingKind::unexplained_growth);
    });
    if (wants_leaks && reported_.run_trend == RunTrend::too_short) {
        return "nothing repeats often enough to say what grows";
    }
    const bool needs_graph = std::any_of(limits_.findings.begin(), limits_.findings.end(), [](const std::string& word) {
        const auto kind = finding_from_word(word);
        return kind && *kind <= FindingKind::exception_retains_frames;
    });
    return needs_graph && context_.graph() == nullptr ? "the graph was not recorded" : "";
}

void Verifying::findings() {
    Verified verified;
    verified.name = "no-finding";
    const std::string option = fmt::format("--no-finding {}", fmt::join(limits_.findings, ","));
    for (const Finding& finding : reported_.findings) {
        if (is_unwanted(finding)) {
            verified.line = verified.findings.empty() ? finding.line : verified.line;
            verified.referrer = verified.findings.empty() ? finding.referrer : verified.referrer;
            verified.findings.emplace_back(finding_word(finding.kind));
            verified.details.push_back(fmt::format("{}: {}", format_bytes(finding.bytes), described(finding)));
        }
    }
    const std::string lacking = what_findings_lack();
    const size_t count = verified.findings.size();
    if (count > 0) {
        verified.outcome = Outcome::broken;
        verified.reason =
            fmt::format("{} against {}", count == 1 ? "1 finding" : fmt::format("{} findings", count), option);
    } else if (!lacking.empty()) {
        verified.outcome = Outcome::unknown;
        verified.reason = fmt::format("{} cannot be told: {}", option, lacking);
    } else {
        verified.reason = "nothing was found against " + option;
    }
    verified_.push_back(std::move(verified));
}

}  // namespace

Status check_limits(const Limits& limits) {
    if (limits.peak.empty() && limits.reserved.empty() && limits.growth.empty() && limits.findings.empty()) {
        return usage_error(
            "There is no limit to check: give --max-peak, --max-reserved, --max-growth-per-step or --no-finding.");
    }
    TIDEMARK_TRY(check_size("max-peak", limits.peak));
    TIDEMARK_TRY(check_size("max-reserved", limits.reserved));
    TIDEMARK_TRY(check_size("max-growth-per-step", limits.growth));
    for (const std::string& word : limits.findings) {
        if (!severity_from_word(word) && !finding_from_word(word)) {
            return usage_error(fmt::format(
                "\"{}\" is no finding; use a verdict (leak, failure, waste, pattern, background) or a kind as explain "
                "--format json calls it, such as retained-graph.",
                word));
        }
    }
    return {};
}

std::vector<Verified> verify(const Explained& device, const Limits& limits) { return Verifying(device, limits).all(); }

}  // namespace tidemark::cli
