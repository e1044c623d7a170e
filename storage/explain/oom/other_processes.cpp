// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The driver refused the request because other processes use the GPU.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {
namespace {

/// Returns the process with most memory; nullptr if none is known.
const Component* largest_process(const OomCase& oom) {
    const auto& all = oom.context().row().components;
    const Component* largest = nullptr;
    for (const Component& component : all) {
        if (component.kind == ComponentKind::other_processes && component.pid != 0 &&
            (!largest || component.bytes > largest->bytes)) {
            largest = &component;
        }
    }
    return largest;
}

}  // namespace

void oom_advice::other_processes(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const int64_t others = oom.context().row().bytes_of(ComponentKind::other_processes);
    const bool driver_refused = !oom.analysis().is_refused_by_limit();
    if (others == 0 || !driver_refused || oom.analysis().free_on_device + others < oom.analysis().segment_bytes) {
        return;
    }
    const int64_t total = oom.context().device().total_bytes;
    const auto bytes = with("bytes", format_bytes(others));
    answer.text.push_back(
        total > 0 ? words("Other processes use {bytes} of the {total} of this GPU. Without them the request would have "
                          "fit.",
                          bytes, with("total", format_bytes(total)))
                  : words("Other processes use {bytes} of this GPU. Without them the request would have fit.", bytes));
    const Component* process = largest_process(oom);
    if (process == nullptr) {
        return;
    }
    std::string text =
        words("Stop process {pid}, which uses {bytes}, move it to another GPU, or limit its share of this one.",
              with("pid", process->pid), with("bytes", format_bytes(process->bytes)));
    const bool fits = oom.analysis().free_on_device + process->bytes >= oom.analysis().segment_bytes;
    if (fits) {
        text = words.sentences({std::move(text), words("The request would then have fit.")});
    }
    Fix fix{std::move(text), "nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv", process->bytes, {}};
    answer.fixes.push_back({std::move(fix), fits});
}

}  // namespace tidemark
