// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/explain.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "storage/base/units.h"
#include "storage/explain/data_gaps.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/summary.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// Patterns below this size rank with the background.
constexpr int64_t least_pattern_bytes = 1 << 20;
/// `steady` outranks `second_iteration_peak` when the peak is below this fraction of the total (1 / 8).
constexpr int64_t least_peak_fraction = 8;

/// Returns the rank among patterns that apply at once: a pattern that explains the others comes first.
int precedence(FindingKind kind) {
    switch (kind) {
        case FindingKind::reserved_high_water: return 1;  // a consequence of an outlier iteration
        case FindingKind::block_reuse: return 4;          // a detail of all other patterns
        default: return 0;
    }
}

class Order {
public:
    explicit Order(const AnalysisContext& context)
        : peak_(context.peak().max), failed_(context.out_of_memory() != nullptr) {}

    bool operator()(const Finding& a, const Finding& b) const {
        if (a.severity == Severity::leak && b.severity == Severity::leak && rank(a) == rank(b)) {
            return a.rate > b.rate;
        }
        return std::tuple(rank(a), -a.bytes) < std::tuple(rank(b), -b.bytes);
    }

private:
    std::pair<int, int> rank(const Finding& finding) const {
        const int severity = static_cast<int>(finding.severity);
        if (finding.severity == Severity::leak && failed_) {
            // The error is what happened; its finding names the leak if that filled the device.
            return {static_cast<int>(Severity::failure), 1};
        }
        if (finding.kind == FindingKind::steady) {
            return {severity, 2};
        }
        if (finding.severity != Severity::pattern) {
            return {severity, 0};
        }
        if (finding.bytes < least_pattern_bytes) {
            return {static_cast<int>(Severity::background), 1};
        }
        const bool is_small_part = finding.bytes * least_peak_fraction < peak_;
        const bool is_aside = finding.kind == FindingKind::second_iteration_peak && is_small_part;
        return {severity, is_aside ? 3 : precedence(finding.kind)};
    }

    int64_t peak_;
    bool failed_;  ///< ended with an OOM
};

/// Sets what the diagnoses leave open: device, source lines, unit and rate.
void complete(Finding& finding, const AnalysisContext& context) {
    finding.device = context.device().device;
    if (!has_times(context.trace(), context.device())) {
        finding.since.reset();
    }
    // What could not be allocated has no memory: other allocations of its size would be found.
    if (finding.memory.allocations.empty() && finding.kind != FindingKind::out_of_memory) {
        finding.memory = find_memory(context, finding);
    }
    finding.source = source_of(context.trace(), finding.stack);
    if (finding.unit == IterationSource::none) {
        finding.unit = context.iterations().source();
    }
    if (finding.rate == 0 && finding.per_iteration && !context.iterations().empty()) {
        finding.rate = static_cast<double>(*finding.per_iteration) / context.iterations().mean_seconds();
    }
}

/// Returns how many iterations the leak needs to fill the device or, after an out-of-memory error, an empty device;
/// nothing if that is unknown.
std::optional<int64_t> iterations_left(const Finding& leak, const AnalysisContext& context) {
    const int64_t total = context.device().total_bytes, per_iteration = leak.per_iteration.value_or(0);
    if (!is_gpu_leak(leak) || leak.has_ended || total == 0 || per_iteration <= 0) {
        return std::nullopt;
    }
    const int64_t used =
        context.out_of_memory()
            ? 0
            : context.row().device_used.value_or(context.curves().value(Series::allocated, context.now()));
    return std::max<int64_t>(total - used, 0) / per_iteration;
}

/// Returns whether only tensors grow. Graphs take host memory and time, too.
bool is_of_tensors(FindingKind kind) {
    return kind == FindingKind::growing_container || kind == FindingKind::growing_tensor ||
           kind == FindingKind::unexplained_growth || kind == FindingKind::optimizer_state_grows ||
           kind == FindingKind::parameters_grow;
}

/// Returns the part of the peak below which slow growth is small: 1 / 4000, or 1 / 1000 if nothing shows what grows.
int64_t small_fraction(const Finding& leak) { return leak.referrer.empty() ? 1000 : 4000; }

/// Adds when a leak fills the device. A small one that would take longer than any run is a pattern: a cache of the
/// sizes met so far, for example.
void weigh_growth(Finding& finding, const AnalysisContext& context, const Words& words) {
    constexpr int64_t very_long = 1'000'000, most_forecast = 100'000;  // iterations
    const std::optional<int64_t> left = iterations_left(finding, context);
    if (!left) {
        return;
    }
    if (!context.out_of_memory() && *left <= most_forecast) {
        finding.text.push_back(
            words("At this rate the {bytes} of the GPU are full after another {count} {iterations}.",
                  with("bytes", format_bytes(context.device().total_bytes)), with("count", format_count(*left)),
                  with("iterations", finding.unit == IterationSource::steps ? words("steps") : words("iterations"))));
    }
    if (is_of_tensors(finding.kind) && *left > very_long &&
        finding.bytes * small_fraction(finding) < context.peak().max) {
        finding.severity = Severity::pattern;
    }
}

/// Removes slow growth of a line beside a leak of that line which is far faster, and of the same kind: the fix of the
/// leak is its fix, too.
void remove_growth_beside_leak(std::vector<Finding>& findings) {
    constexpr int64_t far_faster = 1000;
    const std::vector<Finding> all = findings;
    std::erase_if(findings, [&](const Finding& slow) {
        return is_slow_growth(slow) && std::any_of(all.begin(), all.end(), [&](const Finding& leak) {
                   return is_gpu_leak(leak) && leak.kind == slow.kind && leak.line == slow.line &&
                          leak.per_iteration.value_or(0) >= far_faster * *slow.per_iteration;
               });
    });
}

/// Lowers the confidence of a first finding that is a pattern: it says that nothing is wrong, because nothing recorded
/// shows a leak or waste.
void doubt_peace(std::vector<Finding>& findings, const Words& words) {
    if (findings.empty() || findings.front().severity != Severity::pattern ||
        findings.front().confidence != Confidence::certain) {
        return;
    }
    Finding& first = findings.front();
    first.confidence = Confidence::likely;
    const std::string doubt =
        first.kind == FindingKind::fragmentation
            ? words(
                  "That the unused memory does no harm is inferred: nothing in the recording shows that it is needed.")
        : first.kind == FindingKind::steady
            ? words("That nothing is wrong is inferred: nothing in the recording shows a leak or waste.")
            : words("That nothing else is wrong is inferred: nothing in the recording shows a leak or waste.");
    first.basis = words.sentences({first.basis, doubt});
}

}  // namespace

Explanation explain(const AnalysisContext& context, const Words& words, Progress& progress) {
    Explanation explanation;
    explanation.device = context.device().device;
    explanation.device_name = context.device().name;
    explanation.event = context.now();
    explanation.time_point = time_point_name(context, words);
    // A program may run on for long after its last event.
    explanation.time =
        explained_time(context) == ExplainedTime::end_of_run ? context.trace().duration : context.now_time();
    explanation.unknowns = what_was_not_recorded(context, words);
    if (context.contradicts_itself()) {
        write_contradiction(context, words, explanation);
        return explanation;
    }
    explanation.findings = run_diagnoses(context, words, progress);
    for (Finding& finding : explanation.findings) {
        complete(finding, context);
        weigh_growth(finding, context, words);
    }
    remove_growth_beside_leak(explanation.findings);
    std::stable_sort(explanation.findings.begin(), explanation.findings.end(), Order(context));
    doubt_peace(explanation.findings, words);
    write_summary(context, words, explanation);
    for (Finding& finding : explanation.findings) {
        finding.title = capitalized(std::move(finding.title));
    }
    return explanation;
}

}  // namespace tidemark
