// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/check/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "storage/attribution/attribution.h"
#include "storage/base/units.h"

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

/// Verifies the limits of one device.
class Verifier {
public:
    Verifier(const Explained& device, const Limits& limits, const Words& words)
        : device_(device), context_(*device.context), limits_(limits), words_(words) {}

    std::vector<Verified> all() {
        size("max-peak", Quantity::allocated_peak, limits_.peak);
        size("max-reserved", Quantity::reserved_peak, limits_.reserved);
        size("max-growth-per-step", Quantity::growth_per_step, limits_.growth);
        if (!limits_.findings.empty()) {
            findings();
        }
        return std::move(verified_);
    }

private:
    void size(const char* name, Quantity quantity, const std::string& limit);
    void explain_peak(Verified& verified, EventNumber event) const;
    void findings();
    bool is_forbidden(const Finding& finding) const;
    std::string reason_to_doubt_findings() const;

    const Explained& device_;
    const AnalysisContext& context_;
    const Limits& limits_;
    const Words words_;
    std::vector<Verified> verified_;
};

void Verifier::explain_peak(Verified& verified, EventNumber event) const {
    const auto lines =
        attribution_at(context_.trace(), context_.device(), context_.analysis().live(), event, GroupBy::line);
    if (lines.empty()) {
        return;
    }
    verified.line = lines.front().name;
    verified.details.push_back(
        words_("reached at event:{event} ({time}); the largest part, {bytes}, is from {line}", with("event", event),
               with("time", format_time_point(context_.device().time_of_state(event))), with("line", verified.line),
               with("bytes", format_bytes(lines.front().block_bytes))));
    add_referrer(verified, device_.explanation, words_);
}

void Verifier::size(const char* name, Quantity quantity, const std::string& limit) {
    if (!limit.empty()) {
        const SizeLimit parsed{name, quantity, *parse_bytes(limit), fmt::format("--{} {}", name, limit), {}, {}};
        const auto explain = [this](Verified& verified, EventNumber event) { explain_peak(verified, event); };
        verified_.push_back(verify_size(device_, parsed, explain, words_));
    }
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
    if (wants_leaks && device_.explanation.run_trend == RunTrend::too_short) {
        return words_("nothing repeats often enough to find growth");
    }
    const bool needs_graph = std::any_of(limits_.findings.begin(), limits_.findings.end(), [](const std::string& word) {
        const auto kind = finding_from_word(word);
        return kind && *kind <= FindingKind::growing_container;
    });
    return needs_graph && context_.graph() == nullptr ? words_("the graph was not recorded") : "";
}

void Verifier::findings() {
    Verified verified = list_findings(
        device_, "no-finding", [this](const Finding& finding) { return is_forbidden(finding); }, words_);
    const auto option = with("limit", fmt::format("--no-finding {}", fmt::join(limits_.findings, ",")));
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
