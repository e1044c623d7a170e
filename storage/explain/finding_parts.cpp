// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/finding_parts.h"

#include <algorithm>

#include "storage/explain/python_paths.h"

namespace tidemark {
namespace {

std::string time_point_of_iteration(const Iterations& iterations, const Words& words, const Iteration& iteration) {
    const auto number = with("number", iteration.number);
    return iterations.source() == IterationSource::steps ? words("step {number}", number)
                                                         : words("iteration {number}", number);
}

}  // namespace

std::string line_of(const Trace& trace, StackId stack) {
    const FrameId frame = trace.stacks.site(stack);
    return frame == 0 ? std::string() : describe_frame(trace.stacks, frame);
}

SourceExcerpt source_of(const Trace& trace, StackId stack) {
    constexpr int32_t distance = 2;
    const Frame& frame = trace.stacks.frame(trace.stacks.site(stack));
    return trace.source_text.around(trace.stacks.string(frame.file), frame.line, distance);
}

std::string phase_words(const AnalysisContext& context, StackId stack, const Words& words) {
    const Allocations& allocations = context.device().allocations;
    const auto made = std::lower_bound(allocations.alloc_event.begin(), allocations.alloc_event.end(), context.now());
    if (made == allocations.alloc_event.begin()) {
        return {};
    }
    const StackTable& stacks = context.trace().stacks;
    const StackId newest = allocations.stack[static_cast<size_t>(made - allocations.alloc_event.begin()) - 1];
    const PythonPaths paths(stacks);
    const auto [call, newest_call] = paths.where_they_part(paths.of(stack), paths.of(newest));
    const FrameId frame = paths.frame_id(call);
    const bool is_in_one_function =
        call != 0 && newest_call != 0 && paths.is_same_function(frame, paths.frame_id(newest_call));
    if (!is_in_one_function || stacks.role(frame) < FrameRole::console) {
        return {};
    }
    return words(
        "The phase that allocated this memory was called at {line}. What only it needs can be released after that.",
        with("line", describe_frame(stacks, frame)));
}

std::string doing_of(const Trace& trace, const Words& words, uint32_t origin) {
    const Origin& what = trace.origins[origin];
    std::vector<std::string> about;
    if (!what.module.empty()) {
        about.push_back(words("module `{module}`", with("module", what.module)));
    }
    if (what.phase == Phase::backward) {
        about.push_back(words("backward pass"));
    } else if (what.phase == Phase::forward) {
        about.push_back(words("forward pass"));
    } else if (what.phase == Phase::optimizer) {
        about.push_back(words("optimizer step"));
    }
    if (what.op.empty()) {
        return words.list(about);
    }
    return about.empty() ? what.op : words("{op} ({about})", with("op", what.op), with("about", words.list(about)));
}

std::string objects_words(const AnalysisContext& context, int64_t count, const Words& words) {
    return context.has_pytorch() ? words.plural(count, "{n} tensor", "{n} tensors")
                                 : words.plural(count, "{n} allocation", "{n} allocations");
}

std::string iteration_name(const Iterations& iterations, const Words& words, int64_t position) {
    const auto last = static_cast<int64_t>(iterations.size()) - 1;
    return last < 0 ? std::string()
                    : time_point_of_iteration(iterations, words,
                                              iterations[static_cast<size_t>(std::clamp<int64_t>(position, 0, last))]);
}

std::string iteration_words(IterationSource unit, const Words& words) {
    return unit == IterationSource::steps ? words("step") : words("iteration");
}

std::string iterations_words(IterationSource unit, int64_t count, const Words& words) {
    return unit == IterationSource::steps ? words.plural(count, "{n} step", "{n} steps")
                                          : words.plural(count, "{n} iteration", "{n} iterations");
}

std::string each_iteration(IterationSource unit, const Words& words) {
    return unit == IterationSource::steps ? words("per step") : words("per iteration");
}

std::string capitalized(std::string text) {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == ':'; });
    if (!text.empty() && std::all_of(text.begin(), end, [](char c) { return c >= 'a' && c <= 'z'; })) {
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
    return text;
}

void add_rises(Finding& finding, const std::optional<Rises>& rises, IterationSource unit, const Words& words) {
    finding.rises = rises;
    if (rises) {
        finding.text.push_back(words(
            "The memory grew {times}, about every {iterations}, by {bytes} each time: {mean} {each} on average.",
            with("mean", format_bytes(finding.per_iteration.value_or(0))), with("each", each_iteration(unit, words)),
            with("times", words.plural(rises->count, "{n} time", "{n} times")),
            with("iterations", iterations_words(unit, rises->every, words)),
            with("bytes", format_bytes(rises->bytes))));
    }
}

ExplainedTime explained_time(const AnalysisContext& context) {
    if (context.has_chosen_time_point() && context.now() == context.curves().peak(Series::allocated).max_event) {
        return ExplainedTime::peak;
    }
    if (context.is_snapshot() && context.now() == context.device().event_count() && !context.out_of_memory()) {
        return ExplainedTime::end_of_snapshot;
    }
    if (context.has_chosen_time_point()) {
        return ExplainedTime::event;
    }
    if (context.out_of_memory() && context.now() == context.out_of_memory()->event + 1) {
        return ExplainedTime::out_of_memory;
    }
    const Iterations& iterations = context.iterations();
    const bool is_iteration = !iterations.empty() && context.now() == iterations.all().back().last &&
                              iterations.source() != IterationSource::loop;
    if (is_iteration) {
        return ExplainedTime::end_of_iteration;
    }
    // The memory at the end of the run is another if the program frees what it used.
    const auto allocated = [&](EventNumber n) { return context.curves().value(Series::allocated, n); };
    const bool is_freed = allocated(context.device().event_count()) < allocated(context.now());
    return is_freed ? ExplainedTime::end_of_work : ExplainedTime::end_of_run;
}

std::string time_point_name(const AnalysisContext& context, const Words& words) {
    const Iterations& iterations = context.iterations();
    switch (explained_time(context)) {
        case ExplainedTime::peak: return words("the peak");
        case ExplainedTime::end_of_snapshot: return words("the end of the snapshot");
        case ExplainedTime::event: return words("event {event}", with("event", format_count(context.now())));
        case ExplainedTime::out_of_memory: return words("the out-of-memory error");
        case ExplainedTime::end_of_iteration:
            return words("the end of {iteration}",
                         with("iteration", time_point_of_iteration(iterations, words, iterations.all().back())));
        case ExplainedTime::end_of_work: return words("the end of the work");
        case ExplainedTime::end_of_run: break;
    }
    return words("the end of the run");
}

Evidence at_event(const AnalysisContext& context, std::string text, EventNumber event) {
    Evidence evidence;
    evidence.text = std::move(text);
    evidence.event = event;
    evidence.time = context.device().time_of_state(event);
    return evidence;
}

Evidence at_iteration(const AnalysisContext& context, const Iterations& iterations, std::string text,
                      int64_t position) {
    const Iteration& iteration = iterations[static_cast<size_t>(position)];
    Evidence evidence = at_event(context, std::move(text), iteration.last);
    evidence.time = context.device().time_of_state(std::min(iteration.first + 1, iteration.last));
    evidence.until = iteration.end;
    return evidence;
}

Evidence at_allocation(const AnalysisContext& context, std::string text, AllocationIndex allocation) {
    const EventNumber made = context.device().allocations.alloc_event[allocation];
    Evidence evidence = at_event(context, std::move(text), made + 1);
    evidence.allocation = {context.device_position(), allocation};
    evidence.stack = context.device().allocations.stack[allocation];
    return evidence;
}

Evidence at_node(const AnalysisContext& context, std::string text, NodeIndex node) {
    Evidence evidence = at_event(context, std::move(text), context.now());
    evidence.node = node;
    if (context.graph()) {
        evidence.stack = context.graph()->tables().nodes.stack[node];
    }
    return evidence;
}

Evidence at_component(const AnalysisContext& context, std::string text, ComponentKind component) {
    Evidence evidence = at_event(context, std::move(text), context.now());
    evidence.component = component;
    return evidence;
}

void set_line(Finding& finding, const AnalysisContext& context, StackId stack) {
    finding.stack = stack;
    finding.line = line_of(context.trace(), stack);
}

void set_since(Finding& finding, const Iterations& iterations, size_t position) {
    finding.since = iterations[position].start;
    finding.since_iteration = iterations[position].number;
    finding.unit = iterations.source();
}

}  // namespace tidemark
