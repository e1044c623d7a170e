// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The variable or container that retained most of the memory at the error.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A smaller part (1 / 4) of the memory in use does not decide.
constexpr int64_t least_part = 4;

/// Returns whether the referrer is a tensor variable of a function that is not on the stack, since the heap was scanned
/// before it returned, or of a library's function, which says nothing about the program.
bool is_temporary(const OomCase& oom, const Referrer& referrer) {
    const GraphContext& graph = *oom.context().graph();
    const PathLink& variable = referrer.links.front();
    if (!is_variable(referrer) || variable.kind != PathLinkKind::local) {
        return false;
    }
    const std::vector<FrameId> frames = oom.stacks().frames_of(oom.oom().stack);
    const std::optional<size_t> position = position_of_function(graph, frames, variable);
    return !position || oom.stacks().role(frames[*position]) == FrameRole::library;
}

}  // namespace

void oom_advice::largest_referrer(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const std::vector<RetainedMemory>& groups = oom.retained().groups();
    const auto largest = std::find_if(groups.begin(), groups.end(),
                                      [&](const RetainedMemory& group) { return !is_temporary(oom, *group.referrer); });
    if (!answer.referrer.empty() || largest == groups.end() || largest->bytes * least_part < oom.in_use()) {
        return;
    }
    answer.referrer = referrer_words(oom.context().graph()->tables(), words, *largest->referrer);
    answer.text.push_back(words("Of the memory in use, {bytes} are retained by {referrer}.",
                                with("bytes", format_bytes(largest->bytes)), with("referrer", answer.referrer)));
}

}  // namespace tidemark
