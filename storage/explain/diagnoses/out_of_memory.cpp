// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S9, #15: the OOM analysis: what was requested, what was free and where, what used the rest, and which settings let
// the request fit.
#include <algorithm>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr size_t most_named = 3;  ///< blocks or lines that are named one by one
/// A leak of a smaller part (1 / 4) of the memory that competes does not decide.
constexpr int64_t least_part_of_leak = 4;

/// Returns "in the forward pass"; "" if the phase is unknown.
std::string phase_words(Phase phase, const Words& words) {
    switch (phase) {
        case Phase::forward: return words("in a forward pass");
        case Phase::backward: return words("in a backward pass");
        case Phase::optimizer: return words("in an optimizer step");
        case Phase::eval: return words("in an evaluation");
        default: return {};
    }
}

/// Names the operation that failed, its module and phase, and the complete iterations before it.
std::string request_words(const OomCase& oom, const Words& words) {
    const Origin& origin = oom.origin();
    std::string doing = origin.op;
    if (!doing.empty() && !origin.module.empty()) {
        doing = words("{op} of module `{module}`", with("op", doing), with("module", origin.module));
    }
    if (doing.empty()) {
        return {};
    }
    const std::string phase = phase_words(oom.phase(), words);
    const auto what = with("doing", doing);
    std::string text = phase.empty() ? words("The request came from {doing}.", what)
                                     : words("The request came from {doing} {phase}.", what, with("phase", phase));
    const FrameId caller = calling_frame(oom.stacks(), oom.oom().stack);
    if (caller != 0 && oom.stacks().role(caller) == FrameRole::library) {
        text = words.sentences(
            {std::move(text), words("A library made it: {line}.", with("line", describe_frame(oom.stacks(), caller)))});
    }
    if (oom.iteration() && oom.context().iterations().source() == IterationSource::steps) {
        text = words.sentences({std::move(text), words.plural(static_cast<int64_t>(oom.iteration()->good),
                                                              "{n} step was complete.", "{n} steps were complete.")});
    }
    return text;
}

std::string inside_words(const OomAnalysis& oom_analysis, const Words& words) {
    if (oom_analysis.free_in_segments() == 0) {
        return words("PyTorch had {reserved} reserved, all in use.",
                     with("reserved", format_bytes(static_cast<int64_t>(oom_analysis.state.reserved))));
    }
    return words("PyTorch had {reserved} reserved; {free} were free in {gaps}, the largest with {largest}.",
                 with("reserved", format_bytes(static_cast<int64_t>(oom_analysis.state.reserved))),
                 with("free", format_bytes(oom_analysis.free_in_segments())),
                 with("gaps", words.plural(oom_analysis.state.gaps, "{n} free gap between tensors",
                                           "{n} free gaps between tensors")),
                 with("largest", format_bytes(static_cast<int64_t>(oom_analysis.state.largest_gap))));
}

std::string device_words(const OomAnalysis& oom_analysis, const Words& words) {
    const auto free = with("free", format_bytes(oom_analysis.free_on_device));
    return oom_analysis.is_refused_by_limit()
               ? words(
                     "The device still had {free} free: the process's own limit (memory fraction) refused the request.",
                     free)
               : words("The device had {free} free.", free);
}

/// Describes the device memory outside PyTorch's allocator at that time.
std::string others_words(const AnalysisContext& context, const Words& words) {
    std::vector<std::string> parts;
    for (const Component& component : context.row().components) {
        if (component.bytes > 0 && component.kind >= ComponentKind::library) {
            const auto bytes = with("bytes", format_bytes(component.bytes));
            switch (component.kind) {
                case ComponentKind::library:
                    parts.push_back(words("{bytes} {library}", bytes, with("library", component.name)));
                    break;
                case ComponentKind::context: parts.push_back(words("{bytes} CUDA context", bytes)); break;
                case ComponentKind::kernels: parts.push_back(words("{bytes} kernels", bytes)); break;
                case ComponentKind::other_processes:
                    parts.push_back(words("{bytes} process {pid}", bytes, with("pid", component.pid)));
                    break;
                default: break;
            }
        }
    }
    return parts.empty() ? std::string()
                         : words("Outside PyTorch's allocator: {parts}.", with("parts", words.list(parts)));
}

/// Names the largest sites.
void add_owners(Finding& finding, const AnalysisContext& context, const Words& words) {
    std::vector<std::string> named;
    for (const Site& site : context.surviving_allocations().sites()) {
        if (named.size() == most_named || site.now.empty() ||
            site.bytes * 20 < context.curves().value(Series::allocated, context.now())) {
            break;
        }
        named.push_back(words("{bytes} in {tensors} from {line}", with("bytes", format_bytes(site.bytes)),
                              with("tensors", words.plural(site.count, "{n} tensor", "{n} tensors")),
                              with("line", line_of(context.trace(), site.stack))));
        finding.evidence.push_back(at_allocation(context, named.back(), site.now.back()));
    }
    if (!named.empty()) {
        finding.text.push_back(words("Largest users of memory: {named}.", with("named", words.list(named))));
    }
}

/// Adds the leak that filled the device, if there is one: the error follows from it.
void add_leak(OomAnswer& answer, const OomCase& oom, const Words& words, Progress& progress) {
    Findings leaks;
    diagnoses::growth.run(oom.context(), {}, words, leaks, progress);
    const auto largest = std::max_element(leaks.begin(), leaks.end(),
                                          [](const Finding& a, const Finding& b) { return a.bytes < b.bytes; });
    if (largest == leaks.end() || largest->bytes * least_part_of_leak < oom.competing()) {
        return;
    }
    const auto bytes = with("bytes", format_bytes(largest->bytes));
    std::string text = words("A leak of {bytes} comes first: {title}. Its finding has the details.", bytes,
                             with("title", largest->title));
    const auto is_in_title = [&](const std::string& name) { return largest->title.find(name) != std::string::npos; };
    if (!is_in_title(largest->line)) {
        text = words.sentences({text, words("It is allocated by {line}.", with("line", largest->line))});
    }
    if (!is_in_title(largest->referrer)) {
        text = words.sentences({text, words("It is retained by {referrer}.", with("referrer", largest->referrer))});
    }
    answer.referrer = largest->referrer;
    answer.memory = largest->memory;
    answer.text.push_back(std::move(text));
    for (Fix& fix : largest->fixes) {
        fix.per_iteration.reset();
        answer.fixes.push_back({std::move(fix), oom.fits_without(largest->bytes)});
    }
}

/// Adds the causes, which come first, and the fixes.
void add_answer(Finding& finding, const OomCase& oom, const Words& words, Progress& progress) {
    OomAnswer answer;
    add_leak(answer, oom, words, progress);
    answer_oom(answer, oom, words, progress);
    finding.referrer = std::move(answer.referrer);
    finding.memory = std::move(answer.memory);
    answer.text.insert(answer.text.begin(), request_words(oom, words));
    std::erase(answer.text, std::string());
    finding.text.insert(finding.text.begin(), answer.text.begin(), answer.text.end());
    finding.evidence.insert(finding.evidence.end(), answer.evidence.begin(), answer.evidence.end());
    finding.fixes = ranked(answer.fixes);
}

/// Says what was requested, and how much work came afterwards.
std::string caught_words(const AnalysisContext& context, const Words& words, const Finding& finding) {
    const auto asked = with("asked", format_bytes(finding.bytes));
    std::string text = finding.line.empty() ? words("The largest of these requests was for {asked}.", asked)
                                            : words("The largest of these requests was for {asked}, by {line}.", asked,
                                                    with("line", finding.line));
    const size_t after = iterations_after(context.iterations(), context.caught_errors().back()->event);
    const bool has_steps = context.iterations().source() == IterationSource::steps;
    std::string work;
    if (after == 0) {
        work = words("The program went on afterwards.");
    } else if (has_steps) {
        work = words.plural(static_cast<int64_t>(after), "{n} step followed.", "{n} steps followed.");
    } else {
        work = words.plural(static_cast<int64_t>(after), "{n} iteration followed.", "{n} iterations followed.");
    }
    return words.sentences({std::move(text), std::move(work)});
}

void add_unknowns(Finding& finding, const Experiments& experiments, const Words& words) {
    if (!experiments.was_tried && !experiments.why_not.empty()) {
        finding.unknowns.push_back(experiments.why_not);
    }
    if (experiments.capacity && !experiments.capacity->is_exact) {
        finding.unknowns.push_back(words("The exact capacity of the process is unknown; {bytes} were assumed.",
                                         with("bytes", format_bytes(experiments.capacity->bytes))));
    }
}

/// Returns the number of errors after which their line got no request of that size any more.
int64_t count_unserved(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    const std::vector<const OtherEvent*>& errors = context.caught_errors();
    std::unordered_map<FrameId, uint64_t> largest;  // of the later allocations, by line
    int64_t count = 0;
    size_t left = errors.size();
    const auto check_until = [&](EventNumber event) {
        for (; left > 0 && errors[left - 1]->event > event; --left) {
            count += largest[stacks.site(errors[left - 1]->stack)] < errors[left - 1]->size ? 1 : 0;
        }
    };
    for (AllocationIndex a = static_cast<AllocationIndex>(allocations.size()); a-- > 0;) {
        check_until(allocations.alloc_event[a]);
        uint64_t& size = largest[stacks.site(allocations.stack[a])];
        size = std::max(size, allocations.block_size[a]);
    }
    check_until(before_history);
    return count;
}

/// Work that no later request repeats in full may be lost, or repeated in smaller parts: the requests do not tell.
void add_outcome_of_work(Finding& finding, const AnalysisContext& context, const Words& words) {
    const int64_t unserved = count_unserved(context);
    if (unserved == 0) {
        finding.text.push_back(words("Later requests of the same lines were as large, and were served."));
        finding.fixes = {{words("No fix is needed if the program repeated what failed."), "", {}, {}}};
        return;
    }
    finding.text.push_back(words.plural(
        unserved,
        "After {n} of these errors, no later request of the same line was as large. So the program repeated the work "
        "in smaller parts, or it left the work out; then its results lack these inputs.",
        "After {n} of these errors, no later requests of the same lines were as large. So the program repeated the "
        "work "
        "in smaller parts, or it left the work out; then its results lack these inputs."));
    finding.fixes = {
        {words("No fix is needed if the program expects the error, as a search for the largest batch does."),
         "",
         {},
         {}},
        {words("If it leaves out what failed: repeat that in smaller parts, or limit the input."), "", {}, {}}};
}

/// Describes errors that the program caught, after which it went on.
Finding caught(const AnalysisContext& context, const Words& words) {
    const std::vector<const OtherEvent*>& errors = context.caught_errors();
    const OtherEvent* largest = *std::max_element(
        errors.begin(), errors.end(), [](const OtherEvent* a, const OtherEvent* b) { return a->size < b->size; });
    Finding finding = diagnoses::out_of_memory.new_finding();
    finding.severity = Severity::pattern;
    finding.basis = words("The errors are allocator events, and so is the work after them.");
    finding.bytes = static_cast<int64_t>(largest->size);
    finding.count = static_cast<int64_t>(errors.size());
    finding.since = context.device().time_of_state(errors.front()->event + 1);
    set_line(finding, context, largest->stack);
    finding.title = words.plural(finding.count, "{n} out-of-memory error was caught; the run went on",
                                 "{n} out-of-memory errors were caught; the run went on");
    finding.text = {caught_words(context, words, finding)};
    for (const OtherEvent* error : errors) {
        if (finding.evidence.size() < most_named) {
            finding.evidence.push_back(at_event(context,
                                                words("An error: {asked} were requested",
                                                      with("asked", format_bytes(static_cast<int64_t>(error->size)))),
                                                error->event));
        }
    }
    add_outcome_of_work(finding, context, words);
    return finding;
}

/// Returns whether a backward pass made the request, and the line is that of the operation in the forward pass: threads
/// of autograd run no Python code. Within backward() itself, the stack has its frames.
bool is_in_backward_of_line(const Trace& trace, const OtherEvent& oom) {
    const std::vector<FrameId> frames = trace.stacks.frames_of(oom.stack);
    return trace.origins[oom.origin].phase == Phase::backward &&
           std::none_of(frames.begin(), frames.end(), [&](FrameId id) {
               const Frame& frame = trace.stacks.frame(id);
               return trace.stacks.string(frame.function).find("backward") != std::string::npos ||
                      is_torch_function(trace.stacks, frame, "autograd/");
           });
}

std::string title_of(const Trace& trace, const OtherEvent& oom, const std::string& line, const Words& words) {
    const auto asked = with("asked", format_bytes(static_cast<int64_t>(oom.size)));
    if (line.empty()) {
        return words("out of memory: {asked} were requested", asked);
    }
    return is_in_backward_of_line(trace, oom)
               ? words("out of memory: the backward pass of {line} requested {asked}", asked, with("line", line))
               : words("out of memory: {line} requested {asked}", asked, with("line", line));
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress& progress) {
    if (!context.caught_errors().empty()) {
        findings.push_back(caught(context, words));
    }
    if (!context.out_of_memory()) {
        return;
    }
    const OomAnalysis oom_analysis(context, *context.out_of_memory());
    Finding finding = diagnoses::out_of_memory.new_finding();
    finding.basis = words("The error is an allocator event; the state before it was replayed block by block.");
    finding.bytes = oom_analysis.requested();
    finding.since = context.device().time_of_state(oom_analysis.oom.event + 1);
    set_line(finding, context, oom_analysis.oom.stack);
    finding.title = title_of(context.trace(), oom_analysis.oom, finding.line, words);
    finding.text = {words.sentences({inside_words(oom_analysis, words), device_words(oom_analysis, words)})};
    if (const std::string others = others_words(context, words); !others.empty()) {
        finding.text.push_back(others);
    }
    finding.evidence.push_back(at_event(context, words("The state right before the error"), oom_analysis.before));
    add_owners(finding, context, words);
    const Experiments experiments = try_settings(context, words, oom_analysis.before, progress);
    add_answer(finding, OomCase(context, oom_analysis, experiments), words, progress);
    add_unknowns(finding, experiments, words);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::out_of_memory{FindingKind::out_of_memory, Severity::failure, DiagnosisPhase::observation,
                                         run};

}  // namespace tidemark
