// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/check/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "recorder/cli/describe.h"
#include "storage/base/units.h"
#include "storage/compare/compare.h"
#include "storage/report/difference.h"

namespace tidemark::cli {
namespace {

StateOf state_of(const Explained& device, EventNumber event) {
    const AnalysisContext& context = *device.context;
    return {context.trace(), context.device(), context.analysis().live(), event};
}

/// Compares one device with that of the baseline.
class Comparer {
public:
    Comparer(const Explained& baseline, const Explained& device, const Increase& increase, const Words& words)
        : baseline_(baseline), device_(device), increase_(increase), words_(words) {}

    std::vector<Verified> all() {
        size("baseline-peak", Quantity::allocated_peak);
        size("baseline-reserved", Quantity::reserved_peak);
        size("baseline-growth-per-step", Quantity::growth_per_step);
        findings();
        return std::move(verified_);
    }

private:
    void size(const char* name, Quantity quantity);
    std::string limit_text(Quantity quantity, int64_t before) const;
    void explain_peak(Verified& verified, EventNumber before, EventNumber event) const;
    void findings();
    std::string reason_to_doubt_findings() const;

    const Explained &baseline_, &device_;
    const Increase& increase_;
    const Words& words_;
    std::vector<Verified> verified_;
};

std::string Comparer::limit_text(Quantity quantity, int64_t before) const {
    const auto bytes = with("bytes", format_bytes(before));
    return increase_.of(quantity, before) == 0 ? words_("the {bytes} of the baseline", bytes)
                                               : words_("the {bytes} of the baseline and --max-increase {increase}",
                                                        bytes, with("increase", increase_.text));
}

void Comparer::size(const char* name, Quantity quantity) {
    const Measured before = measure(*baseline_.context, quantity, words_);
    if (before.bytes) {
        const SizeLimit limit{name,
                              quantity,
                              *before.bytes + increase_.of(quantity, *before.bytes),
                              limit_text(quantity, *before.bytes),
                              before.bytes,
                              before.doubt};
        const auto explain = [&](Verified& verified, EventNumber event) {
            explain_peak(verified, before.event, event);
        };
        verified_.push_back(verify_size(device_, limit, explain, words_));
    } else if (const Measured now = measure(*device_.context, quantity, words_); now.bytes) {
        // Without growth, the run is no worse than any baseline.
        verified_.push_back(
            verify_size(device_, {name, quantity, 0, words_("the baseline"), {}, before.doubt}, {}, words_));
    }
}

/// Names the stack of which the peak has more than that of the baseline.
void Comparer::explain_peak(Verified& verified, EventNumber before, EventNumber event) const {
    const Comparison comparison = compare(state_of(baseline_, before), state_of(device_, event), GroupBy::stack);
    if (comparison.rows.empty()) {
        return;
    }
    const CompareRow& largest = comparison.rows.front();
    verified.line = largest.name;
    verified.details.push_back(
        words_("reached at event:{event} ({time}); the largest difference, {bytes}, is from {line}",
               with("event", event), with("time", format_time_point(device_.context->device().time_of_state(event))),
               with("bytes", signed_bytes(largest.difference())), with("line", largest.name)));
    add_referrer(verified, device_.explanation, words_);
}

/// Returns the reason why a finding that the baseline could have may be missing.
std::string Comparer::reason_to_doubt_findings() const {
    const auto is_short = [](const Explained& run) { return run.explanation.run_trend == RunTrend::too_short; };
    if (is_short(device_) && !is_short(baseline_)) {
        return words_("nothing repeats often enough to find growth");
    }
    return device_.context->graph() == nullptr && baseline_.context->graph() != nullptr
               ? words_("the graph was not recorded")
               : "";
}

void Comparer::findings() {
    const auto renamed = renamed_files(baseline_.context->trace().stacks, device_.context->trace().stacks);
    const auto is_new = [&](const Finding& finding) {
        return costs_memory(finding) && is_only_in_b(finding, baseline_.explanation.findings, renamed);
    };
    Verified verified = list_findings(device_, "baseline-findings", is_new, words_);
    const std::string lacking = reason_to_doubt_findings();
    const auto count = static_cast<int64_t>(verified.findings.size());
    if (count > 0) {
        verified.outcome = Outcome::broken;
        verified.reason =
            words_.plural(count, "{n} finding is not in the baseline", "{n} findings are not in the baseline");
    } else if (!lacking.empty()) {
        verified.outcome = Outcome::unknown;
        verified.reason = words_("new findings cannot be excluded: {reason}", with("reason", lacking));
    } else {
        verified.reason = words_("no finding is new");
    }
    verified_.push_back(std::move(verified));
}

}  // namespace

int64_t Increase::of(Quantity quantity, int64_t value) const {
    const int64_t relative = std::llround(share * static_cast<double>(value));
    return quantity == Quantity::growth_per_step ? relative : relative + bytes;
}

Result<Increase> parse_increase(const std::string& text) {
    double percent = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, percent);
    if (error == std::errc() && std::string_view(rest, end) == "%" && percent >= 0 && percent <= 1e6) {
        return Increase{percent / 100, 0, text};
    }
    if (const auto bytes = parse_bytes(text); bytes && *bytes >= 0) {
        return Increase{0, *bytes, text};
    }
    return usage_error("--max-increase: \"{text}\" is neither a percentage nor a size; write 2%, 64MiB or 0.",
                       with("text", text));
}

std::vector<Verified> verify_against(const Explained& baseline, const Explained& device, const Increase& increase,
                                     const Words& words) {
    return Comparer(baseline, device, increase, words).all();
}

std::vector<Verified> without_baseline(const std::string& lacking, const Words& words) {
    Verified verified;
    verified.name = "baseline";
    verified.outcome = Outcome::unknown;
    verified.reason = words("the baseline does not contain {name}", with("name", lacking));
    return {std::move(verified)};
}

}  // namespace tidemark::cli
