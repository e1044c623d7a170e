// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What nothing uses any more stays on the GPU: a model or a part of one that does not run, its last results, an
// optimizer's state, a copy of a model, models of which only a copy is used.

#include "storage/explain/unused_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/container_lines.h"
#include "storage/explain/copied_arguments.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_referrer.h"
#include "storage/explain/library_advice.h"
#include "storage/explain/program_blocks.h"
#include "storage/explain/stacked_models.h"
#include "storage/explain/unused_optimizers.h"
#include "storage/explain/unused_results.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Returns the path to the model of which this is a part, or all; nothing if no scan found it.
std::optional<Referrer> path_to(const AnalysisContext& context, const UnusedModel& unused) {
    const size_t end = unused.module.find('.');
    return end == unused.module.npos
               ? path_to_model(context, unused.memory, unused.module)
               : path_to_model(context, allocated_at(context, context.now()), unused.module.substr(0, end));
}

/// Returns whether "Net.teacher.layers" is "Net.teacher" or a part of it.
bool is_in_module(std::string_view module, std::string_view outer) {
    return module.starts_with(outer) && (module.size() == outer.size() || module[outer.size()] == '.');
}

/// Returns the modules that allocated memory themselves after the iteration of this event.
std::set<std::string_view> modules_since(const AnalysisContext& context, EventNumber event) {
    const auto iteration = static_cast<size_t>(context.iterations().at(event));  // -1: before the first one
    const bool is_within = iteration < context.iterations().size();
    const EventNumber end = is_within ? context.iterations()[iteration].last : event;
    const Allocations& all = context.device().allocations;
    std::set<std::string_view> modules;
    const auto later = std::lower_bound(all.alloc_event.begin(), all.alloc_event.end(), std::max(event + 1, end));
    for (auto a = static_cast<AllocationIndex>(later - all.alloc_event.begin());
         a < all.size() && all.alloc_event[a] < context.now(); ++a) {
        modules.insert(context.trace().origins[all.origin[a]].module);
    }
    return modules;
}

/// Returns the shortest path that a scan has found since the model's last run to an optimizer of it: one that keeps
/// state for its parameters, or for those of a module around it that has not run itself since then either.
std::optional<Referrer> path_to_optimizer(const AnalysisContext& context, const UnusedModel& unused) {
    const GraphContext& graph = *context.graph();
    const int64_t since = context.device().event_time[static_cast<size_t>(unused.last_used)];
    const std::set<std::string_view> running = modules_since(context, unused.last_used);
    const auto is_unused = [&](std::string_view parameter) {
        const std::string_view owner = parameter.substr(0, parameter.rfind('.'));
        return owner != parameter && !running.contains(owner) &&
               (is_in_module(owner, unused.module) || is_in_module(unused.module, owner));
    };
    std::optional<Referrer> path;
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        const AllocationRef allocation{context.device_position(), a};
        const bool is_state = graph.categories.at(allocation, context.now_time()) == Category::optimizer_state &&
                              is_unused(labeled_tensor(graph.categories.name(allocation)));
        const Referrer* referrer = is_state ? graph.referrers.in_python(allocation) : nullptr;
        if (!referrer || !has_name(*referrer) || graph.tables().scans[referrer->scan].time < since) {
            continue;
        }
        const auto links = links_to_optimizer(graph.tables(), referrer->links, "");
        if (links && (!path || *links < path->links.size())) {
            path = *referrer;
            path->links.resize(*links);
        }
    }
    return path;
}

/// Returns "model.teacher" for "Distillation.teacher", and "model" for a whole model. model: what refers to the model;
/// "": unknown.
std::string expression_of(const std::string& module, const std::string& model) {
    const size_t end = module.find('.');
    return (model.empty() ? "model" : model) + (end == module.npos ? std::string() : module.substr(end));
}

/// Returns a finding of this memory, most bytes first, with the line of the largest tensor.
Finding begin_finding(const AnalysisContext& context, const std::vector<AllocationIndex>& memory, int64_t bytes,
                      int64_t since) {
    Finding finding = diagnoses::unused_model.new_finding();
    finding.confidence = Confidence::likely;
    finding.bytes = bytes;
    set_allocations(finding, context, memory, context.now());
    finding.since = since;
    set_line(finding, context, context.device().allocations.stack[memory.front()]);
    return finding;
}

std::string release_code(const std::string& expression) {
    const bool is_variable = expression.find_first_of(".[") == expression.npos;
    return is_variable ? "del " + expression : expression + " = None";
}

/// Returns code that releases what these links lead to: of a container, the element.
std::string release_code(const GraphTables& tables, const std::vector<PathLink>& links) {
    const size_t container = container_end(links);
    return container < links.size() ? "del " + object_expression(tables, links, container + 1)
                                    : release_code(object_expression(tables, links, links.size()));
}

/// Says what retains the model, and how to release it. What a scan found before the model's last run may belong to a
/// function that has returned.
void add_model(Finding& finding, const GraphTables& tables, const UnusedModel& unused,
               const std::optional<Referrer>& path, const Words& words) {
    std::string model;
    if (path) {
        const int64_t found = tables.scans[path->scan].time;
        finding.referrer = referrer_words(tables, words, *path);
        const auto referrer = with("referrer", finding.referrer);
        if (found >= *finding.since) {
            model = referrer_expression(tables, *path);
            finding.text.push_back(words("The model is retained by {referrer}.", referrer));
        } else {
            finding.text.push_back(words("At {time}, while it ran, a heap scan found the model retained by {referrer}.",
                                         with("time", format_time_point(found)), referrer));
        }
    }
    const std::string expression = expression_of(unused.module, model);
    finding.fixes = {
        {words("Release it when its work is done."), release_code(expression), unused.bytes, {}},
        {words("Or move it to host memory until it is needed again."), expression + ".to(\"cpu\")", unused.bytes, {}}};
}

/// Returns whether a frame of the optimizer state's stacks is in this function.
bool steps_in(const AnalysisContext& context, const UnusedModel& unused, const Frame& function) {
    const StackTable& stacks = context.trace().stacks;
    const auto is_in_function = [&](FrameId id) {
        return stacks.frame(id).file == function.file && stacks.frame(id).function == function.function;
    };
    return std::any_of(unused.memory.begin(), unused.memory.end(), [&](AllocationIndex a) {
        const std::vector<FrameId> frames = stacks.frames_of(context.device().allocations.stack[a]);
        return context.graph()->categories.at({context.device_position(), a}, context.now_time()) ==
                   Category::optimizer_state &&
               std::any_of(frames.begin(), frames.end(), is_in_function);
    });
}

/// Returns the diff that releases the optimizer at the end of the method that makes the model, if its object retains
/// the optimizer, and the method trains the model; "" otherwise.
std::string release_in_method_diff(const AnalysisContext& context, const UnusedModel& unused, const Finding& finding,
                                   const Referrer& optimizer) {
    const GraphTables& tables = context.graph()->tables();
    const StackTable& stacks = context.trace().stacks;
    const Frame& method = stacks.frame(stacks.site(finding.stack));
    const auto container = container_of(tables, std::span(optimizer.links).first(container_end(optimizer.links)));
    const bool is_own =
        container && container->is_attribute && is_method_of(stacks.string(method.function), container->owner);
    const auto line = source_place(context.trace(), stacks.site(finding.stack));
    const auto definition = line ? function_around(context.trace(), *line) : std::nullopt;
    const std::string code = release_code(tables, optimizer.links);
    return is_own && definition && code.find("self.") != code.npos && steps_in(context, unused, method)
               ? append_to_block_diff(context.trace(), *definition, code)
               : std::string();
}

/// Says which optimizer retains the model.
void add_optimizer(Finding& finding, const AnalysisContext& context, const UnusedModel& unused,
                   const Referrer& optimizer, const Words& words) {
    const GraphTables& tables = context.graph()->tables();
    finding.referrer = path_words(tables, words, optimizer);
    finding.text.push_back(
        words("Its optimizer is retained by {referrer}, and retains the parameters with their gradients "
              "and the state.",
              with("referrer", finding.referrer)));
    finding.fixes = {{words("Release the optimizer after its last step, with what refers to it: a learning-rate "
                            "scheduler, a trainer."),
                      release_code(tables, optimizer.links),
                      unused.bytes,
                      {},
                      release_in_method_diff(context, unused, finding, optimizer)}};
}

Finding make_finding(const AnalysisContext& context, const UnusedModel& unused, const Words& words) {
    Finding finding = begin_finding(context, unused.memory, unused.bytes,
                                    context.device().event_time[static_cast<size_t>(unused.last_used)]);
    finding.basis = words("The module that ran was recorded with each allocation.");
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
    const GraphTables& tables = context.graph()->tables();
    const std::optional<Referrer> model = path_to(context, unused);
    const bool is_old = !model || tables.scans[model->scan].time < *finding.since;
    if (const auto optimizer = is_old ? path_to_optimizer(context, unused) : std::nullopt) {
        add_optimizer(finding, context, unused, *optimizer, words);
    } else {
        add_model(finding, tables, unused, model, words);
    }
    return finding;
}

std::vector<std::string> text_of(const UnusedOptimizer& unused, const Finding& finding, int64_t idle, std::string phase,
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
    if (!phase.empty()) {
        text.push_back(std::move(phase));
    }
    if (!finding.referrer.empty()) {
        text.push_back(words("The optimizer is retained by {referrer}.", with("referrer", finding.referrer)));
    }
    return text;
}

Finding make_finding(const AnalysisContext& context, const UnusedOptimizer& unused, const Words& words) {
    Finding finding = begin_finding(context, unused.memory, unused.bytes, unused.last_step);
    finding.basis = words("Each step() of the optimizers was recorded with the memory that it allocated.");
    std::string release = "del optimizer";
    std::optional<Fix> library_fix;
    if (unused.referrer) {
        Referrer optimizer = *unused.referrer;
        optimizer.links.resize(unused.links);
        finding.referrer = referrer_words(context.graph()->tables(), words, optimizer);
        const std::string expression = referrer_expression(context.graph()->tables(), optimizer);
        library_fix =
            library_fix_of_path(context.trace(), context.graph()->tables(), words, optimizer.links, Growth::of_count);
        if (!unused.is_other_element && !library_fix) {
            release = unused.links == 1 ? "del " + expression : expression + " = None";
        }
    }
    const int64_t idle = context.now_time() - unused.last_step;
    finding.title =
        words("`{optimizer}` has not stepped for {idle}, but retains {bytes}", with("optimizer", unused.name),
              with("idle", format_duration(idle)), with("bytes", format_bytes(unused.bytes)));
    finding.text = text_of(unused, finding, idle, phase_words(context, finding.stack, words), words);
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
    if (library_fix) {
        library_fix->bytes = unused.bytes;
        finding.fixes.insert(finding.fixes.begin(), std::move(*library_fix));
    }
    return finding;
}

/// Returns code that releases a variable or an attribute, also of the elements of a list; "" for another path.
std::string release_of(const GraphTables& tables, const Referrer& referrer) {
    const std::string expression = referrer_expression(tables, referrer);
    if (is_variable(referrer)) {
        return "del " + expression;
    }
    if (referrer.links.back().kind != PathLinkKind::attribute) {
        return {};
    }
    if (container_end(referrer.links) == referrer.links.size()) {
        return expression + " = None";
    }
    const std::string& name = tables.texts[referrer.links.back().name];  // "output of ReLU"
    return "for module in " + expression + ":\n    module." + name.substr(0, name.find(' ')) + " = None";
}

/// Returns the code for all of them, each line once.
std::string release_of(const GraphTables& tables, const std::vector<const Referrer*>& referrers) {
    std::string code;
    for (const Referrer* referrer : referrers) {
        const std::string one = release_of(tables, *referrer);
        if (!one.empty() && code.find(one) == code.npos) {
            code += (code.empty() ? "" : "\n") + one;
        }
    }
    return code;
}

Finding make_finding(const AnalysisContext& context, const UnusedResults& unused, const Words& words) {
    Finding finding = begin_finding(context, unused.memory, unused.bytes,
                                    context.device().event_time[static_cast<size_t>(unused.last_used)]);
    finding.basis = words("The module that ran was recorded with each allocation.");
    const auto module = with("module", unused.module), bytes = with("bytes", format_bytes(unused.bytes));
    const auto idle =
        with("iterations", iterations_words(context.iterations().source(), static_cast<int64_t>(unused.idle), words));
    finding.title =
        words("results inside of `{module}` retain {bytes}, but it has not run for {iterations}", module, bytes, idle);
    finding.text = {
        words("{passes} forward passes of `{module}` made these results, and each pass replaced those of the one "
              "before. The last ones stay: {tensors} of {modules}, {bytes}. In the {iterations} since {time} only "
              "other modules ran.",
              with("passes", format_count(static_cast<int64_t>(unused.passes))), module,
              with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors")),
              with("modules", words.plural(static_cast<int64_t>(unused.modules), "{n} module", "{n} modules")), bytes,
              idle, with("time", format_time_point(*finding.since)))};
    if (std::string phase = phase_words(context, finding.stack, words); !phase.empty()) {
        finding.text.push_back(std::move(phase));
    }
    std::string release;
    if (!unused.referrers.empty()) {
        const GraphTables& tables = context.graph()->tables();
        finding.referrer = path_words(tables, words, *unused.referrers.front());
        finding.text.push_back(
            words("A heap scan found such a result retained by {referrer}.", with("referrer", finding.referrer)));
        release = release_of(tables, unused.referrers);
    }
    finding.evidence = {at_event(context, words("One of its modules runs for the last time"), unused.last_used),
                        at_allocation(context, words("The largest of the results"), unused.memory.front())};
    finding.fixes = {{words("Delete the results after the last forward pass, with what refers to them: attributes that "
                            "a hook set on the modules, a dict of activations, a variable of the loop."),
                      release,
                      unused.bytes,
                      {}}};
    for (const AllocationIndex a : unused.memory) {
        finding.accounts_for.push_back(context.device().allocations.stack[a]);
    }
    return finding;
}

Finding make_finding(const AnalysisContext& context, const CopiedArguments& copied, const Words& words) {
    constexpr size_t most_models = 3;
    Finding finding =
        begin_finding(context, copied.memory, copied.bytes, context.device().alloc_time(copied.memory.front()));
    finding.confidence = Confidence::certain;
    finding.basis = words("The allocations have the call of save_hyperparameters() on their stack.");
    finding.referrer = words("`_hparams_initial` of the LightningModule");
    const auto bytes = with("bytes", format_bytes(copied.bytes));
    finding.title = words("save_hyperparameters() made a copy of {bytes} that nothing uses", bytes);
    finding.text = {
        words("save_hyperparameters() stores all arguments of the constructor, and a deep copy of them in "
              "`_hparams_initial`, from which Lightning only logs numbers and names. The arguments include tensors or "
              "models on the GPU, so the copy is there as well: {bytes} in {tensors}.",
              bytes, with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors")))};
    std::vector<std::string> models;
    for (size_t m = 0; m < std::min(most_models, copied.models.size()); ++m) {
        models.push_back("`" + copied.models[m] + "`");
    }
    if (!models.empty()) {
        finding.text.push_back(words("It contains parameters of {models}.", with("models", words.list(models))));
    }
    finding.evidence = {
        at_allocation(context, words("The largest tensor of the copy"), copied.memory.front()),
        at_event(context,
                 words("The copy still exists at {time_point}", with("time_point", time_point_name(context, words))),
                 context.now())};
    finding.fixes = {{words("Exclude the arguments that are models or tensors, in addition to those excluded already."),
                      "self.save_hyperparameters(ignore=[\"model\"])",
                      copied.bytes,
                      {}}};
    return finding;
}

Finding make_finding(const AnalysisContext& context, const StackedModels& stacked, const Words& words) {
    Finding finding = begin_finding(context, stacked.memory, stacked.bytes, stacked.since);
    finding.basis = words("The graph shows which parameters each recorded operation used.");
    std::string expression = "models";
    if (stacked.referrer) {
        finding.referrer = referrer_words(context.graph()->tables(), words, *stacked.referrer);
        expression = has_name(*stacked.referrer) ? referrer_expression(context.graph()->tables(), *stacked.referrer)
                                                 : expression;
    }
    const auto parameters = with("parameters", words.plural(finding.count, "{n} parameter", "{n} parameters"));
    const auto bytes = with("bytes", format_bytes(stacked.bytes));
    finding.title = words("{parameters} were copied by torch.stack() and are not used any more, but retain {bytes}",
                          parameters, bytes);
    finding.text = {words(
        "torch.stack() copied these parameters of `{model}` at {line}. In {iterations} since then autograd graphs "
        "have used the copies, and none has used the originals. They stay on the GPU: {bytes}.",
        with("model", stacked.model),
        with("line", line_of(context.trace(), context.device().allocations.stack[stacked.copy])),
        with("iterations", iterations_words(context.iterations().source(), static_cast<int64_t>(stacked.idle), words)),
        bytes)};
    if (!finding.referrer.empty()) {
        finding.text.push_back(
            words("A heap scan found an original retained by {referrer}.", with("referrer", finding.referrer)));
    }
    finding.evidence = {at_allocation(context, words("The largest original"), stacked.memory.front()),
                        at_allocation(context, words("A copy that is used instead"), stacked.copy)};
    finding.fixes = {
        {words("Delete the models after their parameters were stacked, and keep only what is needed of them, such as "
               "their number."),
         fmt::format("params, buffers = torch.func.stack_module_state({0})\ndel {0}", expression),
         stacked.bytes,
         {}},
        {words("Or keep them in host memory, and move only the stacked parameters to the GPU."),
         fmt::format("params, buffers = torch.func.stack_module_state({})  # on the CPU\n"
                     "params = {{name: p.detach().cuda().requires_grad_() for name, p in params.items()}}",
                     expression),
         stacked.bytes,
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
    for (const UnusedResults& unused : find_unused_results(context)) {
        findings.push_back(make_finding(context, unused, words));
    }
    for (const CopiedArguments& copied : find_copied_arguments(context)) {
        findings.push_back(make_finding(context, copied, words));
    }
    for (const StackedModels& stacked : find_stacked_models(context)) {
        findings.push_back(make_finding(context, stacked, words));
    }
}

}  // namespace

const Diagnosis diagnoses::unused_model{FindingKind::unused_model, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
