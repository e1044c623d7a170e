// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One GPU of several has far more memory allocated than the others.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/oom/oom_answer.h"
#include "storage/timeline/time_point.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// A GPU with a smaller part (1 / 50) of the memory does not share the work.
constexpr int64_t least_part = 50;
/// Twice as much as on every other GPU is uneven.
constexpr int64_t least_ratio = 2;

struct OtherDevice {
    int device = 0;
    int64_t bytes = 0;
};

/// Returns the allocated block bytes of another device at the time of the error; without times, at its end.
int64_t allocated_bytes(const OomCase& oom, const DeviceHistory& device) {
    const bool is_timed =
        has_times(oom.context().trace(), device) && has_times(oom.context().trace(), oom.context().device());
    const EventNumber state =
        is_timed ? device.events_until(oom.context().device().time_of_state(oom.oom().event)) : device.event_count();
    int64_t bytes = 0;
    for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
        const bool is_allocated =
            device.allocations.alloc_event[a] < state && device.allocations.free_event[a] >= state;
        bytes += is_allocated ? static_cast<int64_t>(device.allocations.block_size[a]) : 0;
    }
    return bytes;
}

/// Returns the other devices that share the work, most bytes first.
std::vector<OtherDevice> others_at_error(const OomCase& oom) {
    std::vector<OtherDevice> others;
    for (const DeviceHistory& device : oom.context().trace().devices) {
        const int64_t bytes = &device == &oom.context().device() ? 0 : allocated_bytes(oom, device);
        if (bytes * least_part >= oom.in_use() && bytes > 0) {
            others.push_back({device.device, bytes});
        }
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const OtherDevice& a, const OtherDevice& b) { return a.bytes > b.bytes; });
    return others;
}

}  // namespace

void oom_advice::uneven_devices(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    const std::vector<OtherDevice> others = others_at_error(oom);
    if (others.empty() || oom.in_use() < least_ratio * others.front().bytes) {
        return;
    }
    int64_t sum = oom.in_use();
    std::vector<std::string> named;
    for (const OtherDevice& other : others) {
        sum += other.bytes;
        named.push_back(
            words("{bytes} on GPU {device}", with("bytes", format_bytes(other.bytes)), with("device", other.device)));
    }
    std::string text = words("The GPUs are used unevenly: {bytes} were allocated on GPU {device}, but {others}.",
                             with("bytes", format_bytes(oom.in_use())), with("device", oom.context().device().device),
                             with("others", words.list(named)));
    const bool is_data_parallel = has_torch_function(oom.stacks(), oom.oom().stack, "nn/parallel/parallel_apply.py");
    if (is_data_parallel) {
        text = words.sentences({std::move(text), words("torch.nn.DataParallel runs a part of each batch on each GPU; "
                                                       "the part of this GPU needs far more memory.")});
    }
    answer.text.push_back(std::move(text));
    const int64_t mean = sum / static_cast<int64_t>(others.size() + 1);
    const auto each = with("mean", format_bytes(mean));
    add_fix(answer, oom, words,
            is_data_parallel
                ? words("Form batches whose parts are of about the same size, so that each GPU gets an equal part: "
                        "{mean} would then be allocated on each.",
                        each)
                : words("Distribute the work evenly: {mean} would then be allocated on each GPU.", each),
            "", oom.in_use() - mean);
}

}  // namespace tidemark
