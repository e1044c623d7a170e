// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A retry inside of an except block: the exception that is being handled retains the memory of the failed attempt.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A smaller part (1 / 10) of the memory in use does not decide.
constexpr int64_t least_part = 10;
constexpr size_t most_variables = 3;

std::string variables(const OomCase& oom, const Words& words, const std::vector<RetainedMemory>& groups) {
    std::vector<std::string> names;
    for (const RetainedMemory& group : groups) {
        const std::string name = referrer_expression(oom.context().graph()->tables(), *group.referrer);
        const std::string quoted = fmt::format("`{}`", name);
        if (names.size() < most_variables && !name.empty() &&
            std::find(names.begin(), names.end(), quoted) == names.end()) {
            names.push_back(quoted);
        }
    }
    return words.list(names);
}

}  // namespace

void oom_advice::handled_exception(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const std::vector<RetainedMemory>& groups = oom.retained().by_exception();
    const int64_t total = oom.retained().bytes_by_exception();
    if (groups.empty() || total * least_part < oom.in_use()) {
        return;
    }
    const auto bytes = with("bytes", format_bytes(total));
    answer.referrer = referrer_words(oom.context().graph()->tables(), words, *groups.front().referrer);
    answer.text.push_back(words.sentences(
        {words("The program was handling an exception when it requested this memory, so it was still in an except "
               "block, or in a function called from there. The exception's traceback retains the frames of the attempt "
               "that failed, and they retain {bytes}: {variables}.",
               bytes, with("variables", variables(oom, words, groups))),
         words("torch.cuda.empty_cache() cannot free that.")}));
    answer.evidence.push_back(
        at_allocation(oom.context(), words("Memory of the attempt that failed"), groups.front().memory.back()));
    add_fix(answer, oom, words,
            words("Leave the except block before you try again: set a flag in it, and retry after it. The exception, "
                  "its traceback and their {bytes} are freed at the end of the block.",
                  bytes),
            "try:\n    output = run(batch)\n    fits = True\nexcept torch.OutOfMemoryError:\n    fits = False\n"
            "if not fits:\n    output = run_in_parts(batch)",
            total);
}

}  // namespace tidemark
