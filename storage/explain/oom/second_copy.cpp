// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model or checkpoint that is loaded onto the GPU while an earlier one of the same sizes is still there.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Fewer tensors of equal sizes are no proof of a copy.
constexpr size_t fewest_tensors = 3;

bool is_checkpoint(const StackTable& stacks, const Frame& frame) {
    return is_torch_function(stacks, frame, "serialization.py");
}

bool is_loading(const StackTable& stacks, const Frame& frame) {
    return is_checkpoint(stacks, frame) || is_torch_function(stacks, frame, "nn/modules/module.py", "_apply");
}

/// Returns the stack that called the outermost loading frame; 0 if the stack loads nothing.
StackId caller_of_load(const StackTable& stacks, StackId stack) {
    StackId caller = 0;
    for (; stack != 0; stack = stacks.stack(stack).caller) {
        caller = is_loading(stacks, stacks.frame(stacks.stack(stack).frame)) ? stacks.stack(stack).caller : caller;
    }
    return caller;
}

/// The tensors that one call loaded and that still exist, by age.
struct Load {
    StackId caller = 0;
    std::vector<AllocationIndex> tensors;
};

/// A call at the same place is another load if the program did other work in between.
std::vector<Load> find_loads(const OomCase& oom) {
    std::vector<StackId> callers(oom.stacks().stack_count());
    for (StackId stack = 1; stack < callers.size(); ++stack) {
        callers[stack] = caller_of_load(oom.stacks(), stack);
    }
    std::vector<bool> is_alive(oom.allocations().size());
    for (const AllocationIndex a : oom.alive()) {
        is_alive[a] = true;
    }
    std::vector<Load> loads;
    StackId current = 0;
    for (AllocationIndex a = 0; a < oom.allocations().size() && oom.allocations().alloc_event[a] < oom.oom().event;
         ++a) {
        const StackId caller = callers[oom.allocations().stack[a]];
        if (caller != 0 && is_alive[a]) {
            if (caller != current) {
                loads.push_back({caller, {}});
            }
            loads.back().tensors.push_back(a);
        }
        current = caller != 0 && !is_alive[a] ? current : caller;
    }
    return loads;
}

/// Returns whether the tensors that were loaded so far, and the request, begin the sequence of the earlier load.
bool is_copy(const OomCase& oom, const Load& later, const Load& earlier) {
    const size_t count = later.tensors.size();
    const auto size = [&](AllocationIndex a) { return (oom.allocations().requested[a] + 511) / 512 * 512; };
    return count >= fewest_tensors && earlier.tensors.size() > count &&
           size(earlier.tensors[count]) == oom.oom().size &&
           std::equal(later.tensors.begin(), later.tensors.end(), earlier.tensors.begin(),
                      [&](AllocationIndex a, AllocationIndex b) { return size(a) == size(b); });
}

std::string referrer_of(const OomCase& oom, const Words& words, const Load& load) {
    const GraphContext* graph = oom.context().graph();
    for (const AllocationIndex a : load.tensors) {
        const Referrer* referrer = graph ? graph->referrers.in_python({oom.context().device_position(), a}) : nullptr;
        if (referrer) {
            const ReferrerGroup* group = graph->group_of(referrer);
            return group ? referrer_words(graph->tables(), words, *group)
                         : referrer_words(graph->tables(), words, *referrer);
        }
    }
    return {};
}

/// Returns "snapshot" if the program's line that loads is `snapshot = torch.load(path)`; "" if that is unknown.
std::string assigned_variable(const Trace& trace, FrameId id) {
    const Frame& frame = trace.stacks.frame(id);
    const std::string* line = trace.source_text.line(trace.stacks.string(frame.file), frame.line);
    const size_t sign = line ? line->find('=') : std::string::npos;
    if (sign == std::string::npos || line->compare(sign, 2, "==") == 0) {
        return {};
    }
    const size_t begin = line->find_first_not_of(" \t"), end = line->find_last_not_of(" \t", sign - 1);
    const std::string name = begin < sign ? line->substr(begin, end + 1 - begin) : std::string();
    const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    return is_name ? name : std::string();
}

/// Names the variable that gets what is being loaded.
std::string target_of(const OomCase& oom, const Words& words, const Load& load) {
    const Trace& trace = oom.context().trace();
    const FrameId line = oom.stacks().site(load.caller);
    const std::string name = assigned_variable(trace, line);
    return name.empty()
               ? std::string()
               : words("`{name}` ({line})", with("name", name), with("line", describe_frame(trace.stacks, line)));
}

/// Adds map_location="cpu" if the load is one of a checkpoint; otherwise returns false.
bool add_host_memory(const OomCase& oom, const Words& words, const Load& load, OomAnswer& answer) {
    const std::vector<FrameId> frames = oom.stacks().frames_of(oom.oom().stack);
    if (std::none_of(frames.begin(), frames.end(),
                     [&](FrameId id) { return is_checkpoint(oom.stacks(), oom.stacks().frame(id)); })) {
        return false;
    }
    add_fix(answer, oom, words,
            words("Load the checkpoint into host memory; load_state_dict() copies what it needs to the GPU."),
            "checkpoint = torch.load(path, map_location=\"cpu\")", oom.bytes(load.tensors));
    return true;
}

/// Counts the loaded tensors for each of which the model or the optimizer has one of the same size.
size_t count_duplicates(const OomCase& oom, const Load& load) {
    std::multiset<int64_t> of_model;
    for (const AllocationIndex a : oom.alive()) {
        const Category category = oom.category(a);
        if (category == Category::parameter || category == Category::buffer || category == Category::optimizer_state) {
            of_model.insert(oom.bytes(a));
        }
    }
    return static_cast<size_t>(std::count_if(load.tensors.begin(), load.tensors.end(), [&](AllocationIndex a) {
        const auto found = of_model.find(oom.bytes(a));
        const bool has_twin = found != of_model.end();
        if (has_twin) {
            of_model.erase(found);
        }
        return has_twin;
    }));
}

void describe_load(const OomCase& oom, const Words& words, const Load& load, OomAnswer& answer) {
    const auto bytes = with("bytes", format_bytes(oom.bytes(load.tensors)));
    std::string text = words("The program was loading a model: {bytes} of it are on the GPU.", bytes);
    const size_t duplicates = count_duplicates(oom, load);
    if (duplicates >= fewest_tensors && duplicates == load.tensors.size()) {
        text =
            words.sentences({text, words("It is a second copy: all of these tensors have the sizes of parameters and "
                                         "optimizer state that are on the GPU already.")});
    }
    if (const std::string target = target_of(oom, words, load); !target.empty()) {
        answer.referrer = target;
        text = words.sentences({text, words("It is loaded for {target}.", with("target", target))});
    }
    answer.text.push_back(std::move(text));
}

void add_copy(const OomCase& oom, const Words& words, const Load& earlier, const Load& later, OomAnswer& answer) {
    const int64_t bytes = oom.bytes(earlier.tensors);
    const auto of_earlier = with("bytes", format_bytes(bytes));
    const auto line = with("line", line_of(oom.context().trace(), earlier.caller));
    std::string text = words.plural(
        static_cast<int64_t>(later.tensors.size()),
        "The program was loading a copy of a model: {n} tensor so far has the size of one that {line} loaded before. "
        "That copy still takes {bytes}.",
        "The program was loading a copy of a model: {n} tensors so far have the sizes of those that {line} loaded "
        "before. That copy still takes {bytes}.",
        of_earlier, line);
    if (const std::string referrer = referrer_of(oom, words, earlier); !referrer.empty()) {
        answer.referrer = referrer;
        text = words.sentences({text, words("It is retained by {referrer}.", with("referrer", referrer))});
    }
    answer.text.push_back(std::move(text));
    answer.evidence.push_back(
        at_allocation(oom.context(), words("The first tensor of the earlier copy"), earlier.tensors.front()));
    add_fix(answer, oom, words, words("If the new model replaces the earlier one, free that first."),
            "del model, optimizer\ngc.collect()\nmodel = load()", bytes);
    add_host_memory(oom, words, later, answer);
}

}  // namespace

void oom_advice::second_copy(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const StackId caller = caller_of_load(oom.stacks(), oom.oom().stack);
    if (caller == 0) {
        return;
    }
    const std::vector<Load> loads = find_loads(oom);
    if (loads.empty() || loads.back().caller != caller) {
        return;
    }
    const Load& load = loads.back();
    const auto earlier =
        std::find_if(loads.begin(), loads.end() - 1, [&](const Load& other) { return is_copy(oom, load, other); });
    if (earlier != loads.end() - 1) {
        add_copy(oom, words, *earlier, load, answer);
        return;
    }
    describe_load(oom, words, load, answer);
    if (!add_host_memory(oom, words, load, answer)) {
        add_fix(answer, words("If the parameters are float32, bfloat16 halves them."),
                "model = model.to(torch.bfloat16)");
    }
}

}  // namespace tidemark
