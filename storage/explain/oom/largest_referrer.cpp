// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The variable or container that retained most of the memory at the error.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A smaller part (1 / 4) of the memory that competes does not decide.
constexpr int64_t least_part = 4;

/// Whose variable retains memory.
enum class Owner : uint8_t {
    program,
    library,
    module_call,  ///< PyTorch's code between a module's caller and its forward(): arguments that say nothing
    returned_function
};

/// Returns the owner of the referrer. A tensor variable of a function that is not on the stack is one of a function
/// that returned: the heap was scanned before.
Owner owner_of(const OomCase& oom, const Referrer& referrer) {
    const GraphContext& graph = *oom.context().graph();
    const PathLink& variable = referrer.links.front();
    if (variable.kind != PathLinkKind::local) {
        return Owner::program;
    }
    const std::vector<FrameId> frames = oom.stacks().frames_of(oom.oom().stack);
    const std::optional<size_t> position = position_of_function(graph, frames, variable);
    if (position && is_torch_function(oom.stacks(), oom.stacks().frame(frames[*position]), "nn/modules/module.py")) {
        return Owner::module_call;
    }
    if (!is_variable(referrer)) {
        return Owner::program;
    }
    if (!position) {
        return Owner::returned_function;
    }
    return oom.stacks().role(frames[*position]) == FrameRole::library ? Owner::library : Owner::program;
}

/// Returns the largest group of the owner that decides; nullptr if there is none.
const RetainedMemory* largest_of(const OomCase& oom, Owner owner) {
    const std::vector<RetainedMemory>& groups = oom.retained().groups();
    const auto largest = std::find_if(groups.begin(), groups.end(), [&](const RetainedMemory& group) {
        return owner_of(oom, *group.referrer) == owner;
    });
    return largest == groups.end() || largest->bytes * least_part < oom.competing() ? nullptr : &*largest;
}

}  // namespace

void oom_advice::largest_referrer(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    // A variable of a library says less about the program than one of its own.
    const RetainedMemory* largest = largest_of(oom, Owner::program);
    largest = largest ? largest : largest_of(oom, Owner::library);
    if (!answer.referrer.empty() || !largest) {
        return;
    }
    answer.referrer = referrer_words(oom.context().graph()->tables(), words, *largest->referrer);
    answer.text.push_back(words("Of the memory in use, {bytes} are retained by {referrer}.",
                                with("bytes", format_bytes(largest->bytes)), with("referrer", answer.referrer)));
    // Without a name above the exception, something else than the program may have stored it.
    if (leads_through_exception(*largest->referrer) &&
        largest->referrer->links.front().kind != PathLinkKind::exception) {
        add_fix(answer, oom, words,
                words("Store only the text of the exceptions, or clear their tracebacks: each keeps its traceback, the "
                      "frames of all functions on the way, and their variables."),
                "except torch.OutOfMemoryError as error:\n    failed.append(str(error))", largest->bytes);
    }
}

}  // namespace tidemark
