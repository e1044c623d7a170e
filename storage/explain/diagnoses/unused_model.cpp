// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model, or a part of one, stays on the GPU although it does not run any more.

#include "storage/explain/unused_models.h"

#include <fmt/format.h>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Returns "model.teacher" for "Distillation.teacher", and "model" for a whole model.
std::string expression_of(const std::string& module) {
    const size_t end = module.find('.');
    return "model" + (end == module.npos ? std::string() : module.substr(end));
}

Finding make_finding(const AnalysisContext& context, const UnusedModel& unused, const Words& words) {
    Finding finding = diagnoses::unused_model.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words("The module that ran was recorded with each allocation.");
    finding.bytes = unused.bytes;
    finding.count = static_cast<int64_t>(unused.memory.size());
    finding.component = ComponentKind::requested;
    finding.since = context.device().event_time[static_cast<size_t>(unused.last_used)];
    set_line(finding, context, context.device().allocations.stack[unused.memory.front()]);
    const auto module = with("module", unused.module), bytes = with("bytes", format_bytes(unused.bytes));
    const auto idle =
        with("iterations", iterations_words(context.iterations().source(), static_cast<int64_t>(unused.idle), words));
    finding.title = words("`{module}` has not run for {iterations}, but retains {bytes}", module, idle, bytes);
    finding.text = {
        words("Modules of `{module}` ran until {time}. In the {iterations} since then only others ran, yet its "
              "parameters and what belongs to them (gradients, optimizer state) stay on the GPU: {bytes}.",
              module, with("time", format_time_point(*finding.since)), idle, bytes)};
    finding.evidence = {at_event(context, words("One of its modules runs for the last time"), unused.last_used),
                        at_allocation(context, words("Its largest tensor"), unused.memory.front())};
    const std::string expression = expression_of(unused.module);
    const bool is_part = expression.find('.') != expression.npos;
    finding.fixes = {
        {words("Release it when its work is done."),
         is_part ? expression + " = None" : "del " + expression,
         unused.bytes,
         {}},
        {words("Or move it to host memory until it is needed again."), expression + ".to(\"cpu\")", unused.bytes, {}}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    for (const UnusedModel& unused : find_unused_models(context)) {
        findings.push_back(make_finding(context, unused, words));
    }
}

}  // namespace

const Diagnosis diagnoses::unused_model{FindingKind::unused_model, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
