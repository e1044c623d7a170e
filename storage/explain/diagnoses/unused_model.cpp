// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model, a part of one, or an optimizer's state stays on the GPU although it does not run any more.

#include "storage/explain/unused_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/unused_optimizers.h"
#include "storage/text/referrer_words.h"

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

std::vector<std::string> text_of(const UnusedOptimizer& unused, const Finding& finding, int64_t idle,
                                 const Words& words) {
    std::string steps = words(
        "`{optimizer}` stepped {steps}, the last time at {time}. The program has gone on for {idle} since then, yet "
        "the "
        "state that these steps allocated stays on the GPU: {bytes} in {tensors}.",
        with("optimizer", unused.name),
        with("steps", words.plural(static_cast<int64_t>(unused.steps), "{n} time", "{n} times")),
        with("time", format_time_point(unused.last_step)), with("idle", format_duration(idle)),
        with("bytes", format_bytes(unused.bytes)),
        with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors")));
    std::vector<std::string> text{std::move(steps)};
    if (unused.later_steps > 0) {
        text.push_back(words.plural(static_cast<int64_t>(unused.later_steps),
                                    "Other optimizers have stepped {n} time since then.",
                                    "Other optimizers have stepped {n} times since then."));
    }
    if (!finding.referrer.empty()) {
        text.push_back(words("The optimizer is retained by {referrer}.", with("referrer", finding.referrer)));
    }
    return text;
}

Finding make_finding(const AnalysisContext& context, const UnusedOptimizer& unused, const Words& words) {
    Finding finding = diagnoses::unused_model.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words("Each step() of the optimizers was recorded with the memory that it allocated.");
    finding.bytes = unused.bytes;
    finding.count = static_cast<int64_t>(unused.memory.size());
    finding.component = ComponentKind::requested;
    finding.since = unused.last_step;
    set_line(finding, context, context.device().allocations.stack[unused.memory.front()]);
    std::string release = "del optimizer";
    if (unused.referrer) {
        Referrer optimizer = *unused.referrer;
        optimizer.links.resize(unused.links);
        finding.referrer = referrer_words(context.graph()->tables(), words, optimizer);
        const std::string expression = referrer_expression(context.graph()->tables(), optimizer);
        release = unused.links == 1 ? "del " + expression : expression + " = None";
    }
    const int64_t idle = context.now_time() - unused.last_step;
    finding.title =
        words("`{optimizer}` has not stepped for {idle}, but retains {bytes}", with("optimizer", unused.name),
              with("idle", format_duration(idle)), with("bytes", format_bytes(unused.bytes)));
    finding.text = text_of(unused, finding, idle, words);
    finding.evidence = {at_event(context, words("Its last step ends"), context.device().events_until(unused.last_step)),
                        at_allocation(context, words("The largest tensor of its state"), unused.memory.front())};
    finding.fixes = {
        {words("Release the optimizer after its last step, with what refers to it: a learning-rate scheduler, a "
               "trainer."),
         release,
         unused.bytes,
         {}},
        {words("Or create it in a function that runs this phase and returns only what the next one needs."),
         "model = pretrain(model)",
         unused.bytes,
         {}}};
    return finding;
}

/// Returns whether the state belongs to one of these models, whose findings include it.
bool belongs_to(const std::vector<UnusedModel>& models, const UnusedOptimizer& optimizer) {
    return std::any_of(models.begin(), models.end(), [&](const UnusedModel& model) {
        return std::find(model.memory.begin(), model.memory.end(), optimizer.memory.front()) != model.memory.end();
    });
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const std::vector<UnusedModel> models = find_unused_models(context);
    for (const UnusedModel& unused : models) {
        findings.push_back(make_finding(context, unused, words));
    }
    for (const UnusedOptimizer& unused : find_unused_optimizers(context)) {
        if (!belongs_to(models, unused)) {
            findings.push_back(make_finding(context, unused, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::unused_model{FindingKind::unused_model, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
