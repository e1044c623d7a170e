// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Requests that were refused before the error and after which the program went on: cuDNN tries algorithms and falls
// back to one that needs less workspace.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/error_outcome.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

void oom_advice::refused_workspaces(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    int64_t count = 0;
    uint64_t largest = 0;
    for (const OtherEvent& other : oom.context().device().others) {
        const bool is_earlier =
            other.action == Action::oom && other.event < oom.oom().event && other.event >= oom.began();
        if (is_earlier && is_workspace_request(oom.context().trace(), other)) {
            ++count;
            largest = std::max(largest, other.size);
        }
    }
    if (count > 0) {
        answer.text.push_back(words.plural(count,
                                           "Before it, {n} workspace of a convolution of up to {bytes} was refused; "
                                           "cuDNN fell back to another algorithm.",
                                           "Before it, {n} workspaces of convolutions of up to {bytes} were refused; "
                                           "cuDNN fell back to other algorithms.",
                                           with("bytes", format_bytes(static_cast<int64_t>(largest)))));
    }
}

}  // namespace tidemark
