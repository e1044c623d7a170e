// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One tensor is made again in each iteration, larger each time: torch.cat of the old one and new data, or a sparse
// gradient to which each backward pass appends.
#include "storage/base/units.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/python_code.h"
#include "storage/explain/reserved_growth.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the bytes of segments that came from the driver for the growing tensor although enough memory was free.
int64_t segment_bytes(const ReservedGrowth& growth, const LeakSuspect& suspect) {
    int64_t bytes = 0;
    for (const Site* site : suspect.sites) {
        const auto found = growth.by_stack.find(site->stack);
        bytes += found == growth.by_stack.end() ? 0 : found->second;
    }
    return bytes;
}

/// Says what the allocator had to reserve, if that is more than the tensor itself.
void add_reserved(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto growth = find_reserved_growth(context);
    const int64_t bytes = growth ? segment_bytes(*growth, suspect) : 0;
    if (bytes <= suspect.bytes) {
        return;
    }
    finding.text.push_back(words(
        "For these tensors the allocator took {bytes} of new segments from the driver, although enough memory was "
        "free each time: the old ones were too small. So {reserved} are reserved, but at most {allocated} were "
        "allocated.",
        with("bytes", format_bytes(bytes)), with("reserved", format_bytes(growth->reserved)),
        with("allocated", format_bytes(growth->allocated))));
    if (uses_expandable_segments(context)) {
        return;
    }
    finding.fixes.push_back(
        {words("If the tensor is needed, let segments grow, so that a larger tensor can use the memory of those before "
               "it."),
         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
         {},
         {}});
}

/// Returns whether AccumulateGrad makes the tensor. Only a sparse gradient becomes larger there.
bool is_sparse_gradient(const AnalysisContext& context, const LeakSuspect& suspect) {
    const uint32_t origin = context.device().allocations.origin[suspect.example.index];
    return context.trace().origins[origin].op.find("AccumulateGrad") != std::string::npos;
}

/// Returns the name of the gradient's parameter; "" if it is not known.
std::string parameter_name(const AnalysisContext& context, const LeakSuspect& suspect) {
    return context.graph() ? std::string(labeled_tensor(context.graph()->categories.name(suspect.example))) : "";
}

/// Returns "model.item_table.weight" for "TwoTower.item_table.weight".
std::string parameter_expression(const std::string& name) {
    const size_t dot = name.find('.');
    return dot == name.npos ? "parameter" : "model" + name.substr(dot);
}

Finding sparse_gradient(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    finding.count = 0;
    const std::string parameter = parameter_name(context, suspect);
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto each = with("each", each_iteration(suspect.iterations->source(), words));
    if (!parameter.empty()) {  // a path of a scan may lead to the parameter by the optimizer of another
        finding.referrer = words("`.grad` of `{parameter}`", with("parameter", parameter));
    }
    finding.title = finding.referrer.empty() ? words("a sparse gradient becomes larger by {bytes} {each}", bytes, each)
                                             : words("{referrer} becomes larger by {bytes} {each}",
                                                     with("referrer", finding.referrer), bytes, each);
    finding.text = {
        words("The gradient is sparse, as that of an embedding with `sparse=True`. Each backward pass appends its rows "
              "to those of the passes before, because nothing resets the gradient: {total} so far. The zero_grad() of "
              "an optimizer resets only the parameters that the optimizer has.",
              with("total", format_bytes(suspect.bytes)))};
    finding.fixes = {{words("If the parameter is not trained, freeze it. Then no gradient is computed."),
                      parameter_expression(parameter) + ".requires_grad_(False)", suspect.bytes, suspect.per_iteration},
                     {words("Or reset the gradients of the whole model in each step."),
                      "model.zero_grad(set_to_none=True)", suspect.bytes, suspect.per_iteration}};
    add_reserved(finding, context, suspect, words);
    return finding;
}

std::string title_of(const LeakSuspect& suspect, const Finding& finding, const Words& words) {
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto each = with("each", each_iteration(suspect.iterations->source(), words));
    const auto referrer = with("referrer", finding.referrer);
    const auto line = with("line", finding.line);
    if (suspect.count > 1) {
        const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
        return finding.referrer.empty()
                   ? words("{tensors} from {line} become larger by {bytes} in total {each}", tensors, line, bytes, each)
                   : words("{tensors} in {referrer} become larger by {bytes} in total {each}", tensors, referrer, bytes,
                           each);
    }
    return finding.referrer.empty() ? words("a tensor from {line} becomes larger by {bytes} {each}", line, bytes, each)
                                    : words("{referrer} becomes larger by {bytes} {each}", referrer, bytes, each);
}

/// Returns what the program calls the tensor: by its referrer, or by the line that makes it anew.
std::string name_of_tensor(const AnalysisContext& context, const LeakSuspect& suspect) {
    const std::string assigned = assigned_variable(context.trace(), suspect.sites.front()->stack);
    return !assigned.empty()  ? assigned
           : suspect.referrer ? referrer_expression(context.graph()->tables(), *suspect.referrer)
                              : "history";
}

/// Returns the code that is joined in `history = torch.cat([history, new])`, the line that makes the tensor anew; "new"
/// for other lines.
std::string joined_part(const Trace& trace, StackId stack, const std::string& name) {
    const auto line = source_place(trace, trace.stacks.site(stack));
    const std::string beginning = fmt::format("{0} = torch.cat([{0}, ", name);
    const std::string_view code = line ? python_code::code_of(line->text) : std::string_view();
    const std::string_view rest = code.starts_with(beginning) ? code.substr(beginning.size()) : std::string_view();
    const std::string_view part = rest.substr(0, rest.find(']'));
    return python_code::is_operand(part) ? std::string(part) : "new";
}

std::vector<Fix> fixes(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const StackId stack = suspect.sites.front()->stack;
    const std::string name = name_of_tensor(context, suspect), part = joined_part(context.trace(), stack, name);
    const std::string place = part == "new" ? "" : "  # " + line_of(context.trace(), stack);
    return {{words("Start anew when the data was used, for example at each epoch; or keep only the last ones."),
             fmt::format("{0} = torch.cat([{0}, {1}])[-limit:]{2}", name, part, place), suspect.bytes,
             suspect.per_iteration},
            {words("Or collect the data in host memory."),
             fmt::format("{0} = torch.cat([{0}.cpu(), {1}]){2}", name, host_copy_of(GpuLibrary::pytorch, part), place),
             suspect.bytes, suspect.per_iteration},
            {words("If the final size is known: allocate once, and write into it."),
             fmt::format("{}[start:end] = {}", name, part),
             {},
             {}}};
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (suspect.growth != Growth::of_size) {
        return std::nullopt;
    }
    if (is_sparse_gradient(context, suspect)) {
        return sparse_gradient(context, suspect, words);
    }
    Finding finding = suspect_finding(context, suspect, words);
    const bool is_one = suspect.count <= 1;
    finding.title = title_of(suspect, finding, words);
    const auto iteration = with("iteration", iteration_words(suspect.iterations->source(), words));
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto line = with("line", finding.line);
    const auto total = with("total", format_bytes(suspect.bytes));
    finding.text = {
        is_one ? words("Every {iteration} makes the tensor anew at {line}, larger by {bytes}, and releases the old "
                       "one: {total} so far.",
                       iteration, line, bytes, total)
               : words("Every {iteration} makes the tensors anew at {line}, larger by {bytes} in total, and releases "
                       "the old ones: {total} so far.",
                       iteration, line, bytes, total),
        is_one ? words("While one is copied into the other both exist, so the peak grows by twice that amount. Each "
                       "new tensor needs a larger gap than the old one left, so free gaps accumulate as well.")
               : words("Each new tensor needs a larger gap than the old one left, so free gaps accumulate as well.")};
    finding.fixes = fixes(context, suspect, words);
    add_reserved(finding, context, suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::growing_tensor{FindingKind::growing_tensor, classify};

}  // namespace tidemark
