// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/kept_activations.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/stack_categories.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Under no_grad a forward pass keeps at most a few percent; with a graph, half and more.
constexpr int64_t least_kept_part = 3;  ///< 1 / 3 of the bytes
/// Caches and outputs come from one to three lines. Without a history, nothing shows what was freed.
constexpr size_t fewest_lines = 4, fewest_lines_without_history = 16;
/// Each layer keeps the results of its lines. One layer under no_grad has several results, but each line has one.
constexpr int64_t fewest_layers = 3;
/// Fewer bytes are not worth a sentence.
constexpr int64_t least_fraction_of_peak = 50;
/// Activations that a backward pass uses are normal. They are named if they are a large part of the peak: 1 / 4.
constexpr int64_t least_used_part = 4;

/// Returns, by stack, whether it is in a module that no decorator runs without a graph. What torch.compile allocates to
/// compare kernels is no result of a module.
std::vector<bool> stacks_in_modules(const StackTable& stacks) {
    std::vector<bool> in_module = stacks_with_frame(stacks, [&](const Frame& frame) {
        return is_torch_function(stacks, frame, "nn/modules/module.py", "_call_impl");
    });
    const std::vector<bool> is_other = stacks_with_frame(stacks, [&](const Frame& frame) {
        return is_torch_function(stacks, frame, "utils/_contextlib.py", "decorate_context") ||
               is_torch_function(stacks, frame, "_inductor/runtime/");
    });
    for (StackId id = 0; id < in_module.size(); ++id) {
        in_module[id] = in_module[id] && !is_other[id];
    }
    return in_module;
}

/// Bytes of some allocations, and the lines that allocated them.
struct Kept {
    int64_t bytes = 0;
    std::set<FrameId> lines;

    int64_t of_many_lines(size_t fewest = fewest_lines) const { return lines.size() >= fewest ? bytes : 0; }
};

class Search {
public:
    explicit Search(const AnalysisContext& context)
        : context_(context),
          all_(context.device().allocations),
          stacks_(context.trace().stacks),
          makers_(makers_of_stacks(stacks_)),
          in_module_(stacks_in_modules(stacks_)) {}

    KeptActivations find() {
        KeptActivations found;
        const AllocationIndex history = all_.begin_of_history(), forward = begin_of_forward(history);
        found.has_backward = forward > history || has_trained_before(history);
        found.waiting = waiting(forward);
        found.earlier =
            alive(0, history).of_many_lines(context_.lacks_history() ? fewest_lines_without_history : fewest_lines);
        if (found.waiting == 0) {
            const int64_t at_peak = kept_by_layers();
            found.dropped = found.has_backward ? 0 : at_peak;
            found.used = found.has_backward ? at_peak : 0;
            found.outlived = ran_backward_ ? alive(history, last_backward_).of_many_lines() : 0;
        }
        return found;
    }

private:
    /// Returns the first allocation after the last one of a backward pass or an optimizer. One without a stack may be
    /// of a backward pass.
    AllocationIndex begin_of_forward(AllocationIndex begin) {
        for (AllocationIndex a = begin; a < all_.size() && all_.alloc_event[a] < context_.now(); ++a) {
            const Maker maker = makers_[all_.stack[a]];
            const bool is_backward =
                maker == Maker::backward || context_.trace().origins[all_.origin[a]].phase == Phase::backward;
            if (is_backward) {
                ran_backward_ = true;
                last_backward_ = a;
            }
            begin = is_backward || all_.stack[a] == 0 || maker == Maker::optimizer_step ? a + 1 : begin;
        }
        return begin;
    }

    /// Returns whether gradients or optimizer state are older than the history.
    bool has_trained_before(AllocationIndex history) const {
        return std::any_of(all_.stack.begin(), all_.stack.begin() + history, [&](StackId stack) {
            return makers_[stack] == Maker::backward || makers_[stack] == Maker::optimizer_step;
        });
    }

    bool is_in_module(AllocationIndex a) const {
        return in_module_[all_.stack[a]] && makers_[all_.stack[a]] == Maker::other;
    }

    void add(Kept& kept, AllocationIndex a) const {
        kept.bytes += static_cast<int64_t>(all_.block_size[a]);
        kept.lines.insert(calling_frame(stacks_, all_.stack[a]));
    }

    /// Returns what modules allocated in a range of allocations and is alive at the time point.
    Kept alive(AllocationIndex begin, AllocationIndex end) const {
        Kept kept;
        for (AllocationIndex a = begin; a < end; ++a) {
            if (is_in_module(a) && all_.free_event[a] >= context_.now()) {
                add(kept, a);
            }
        }
        return kept;
    }

    int64_t waiting(AllocationIndex begin) const {
        Kept kept;
        int64_t allocated = 0;
        for (AllocationIndex a = begin; a < all_.size() && all_.alloc_event[a] < context_.now(); ++a) {
            if (!is_in_module(a)) {
                continue;
            }
            if (all_.free_event[a] >= context_.now()) {
                add(kept, a);
            }
            allocated += kept.bytes > 0 ? static_cast<int64_t>(all_.block_size[a]) : 0;
        }
        return kept.bytes * least_kept_part >= allocated ? kept.of_many_lines() : 0;
    }

    /// Returns what lines of modules keep at the peak in several layers, and what is freed later.
    int64_t kept_by_layers() const {
        const EventNumber peak = context_.peak().max_event;
        std::map<StackId, Kept> by_stack;
        std::map<StackId, int64_t> count;
        int64_t allocated = 0, all = 0;
        for (AllocationIndex a = all_.begin_of_history(); a < all_.size() && all_.alloc_event[a] < peak; ++a) {
            if (!is_in_module(a)) {
                continue;
            }
            if (all_.free_event[a] >= peak && all_.free_event[a] < context_.now()) {
                add(by_stack[all_.stack[a]], a);
                ++count[all_.stack[a]];
                all += static_cast<int64_t>(all_.block_size[a]);
            }
            allocated += all > 0 ? static_cast<int64_t>(all_.block_size[a]) : 0;
        }
        Kept kept;
        for (const auto& [stack, of_stack] : by_stack) {
            if (count[stack] >= fewest_layers) {
                kept.bytes += of_stack.bytes;
                kept.lines.insert(of_stack.lines.begin(), of_stack.lines.end());
            }
        }
        return kept.bytes * least_kept_part >= allocated ? kept.of_many_lines() : 0;
    }

    const AnalysisContext& context_;
    const Allocations& all_;
    const StackTable& stacks_;
    std::vector<Maker> makers_;
    std::vector<bool> in_module_;
    bool ran_backward_ = false;
    AllocationIndex last_backward_ = 0;
};

/// Returns whether a forward pass may have stopped with an error, on any device.
bool has_failed(const AnalysisContext& context) {
    const auto& devices = context.trace().devices;
    return context.out_of_memory() != nullptr || std::any_of(devices.begin(), devices.end(), [](const auto& device) {
               return std::any_of(device.others.begin(), device.others.end(),
                                  [](const OtherEvent& event) { return event.action == Action::oom; });
           });
}

}  // namespace

KeptActivations find_kept_activations(const AnalysisContext& context) {
    return context.graph() || has_failed(context) ? KeptActivations() : Search(context).find();
}

std::string kept_activations_words(const AnalysisContext& context, const KeptActivations& kept, const Words& words) {
    const int64_t least = context.peak().max / least_fraction_of_peak;
    const auto bytes_of = [](int64_t bytes) { return with("bytes", format_bytes(bytes)); };
    const std::string earlier =
        kept.earlier <= least ? std::string()
        : context.lacks_history()
            ? words(
                  "{bytes} were allocated in forward passes of modules and are alive: an autograd graph probably "
                  "retains them for a backward pass.",
                  bytes_of(kept.earlier))
            : words("{bytes} of activations from before the history are alive, too.", bytes_of(kept.earlier));
    if (kept.waiting > least) {
        return words.sentences(
            {words("{bytes} of activations are alive that a forward pass saved for a backward pass, which the trace "
                   "does not contain.",
                   bytes_of(kept.waiting)),
             kept.has_backward ? std::string()
                               : words("If no backward pass follows, run the forward pass under torch.no_grad() or "
                                       "torch.inference_mode()."),
             earlier});
    }
    if (kept.dropped > least) {
        return words(
            "At the peak, {bytes} of activations are alive that forward passes saved for a backward pass, but the "
            "trace contains no backward pass. Run the forward passes under torch.no_grad() or torch.inference_mode().",
            bytes_of(kept.dropped));
    }
    if (kept.outlived > least) {
        return words(
            "{bytes} of activations are still alive after the last backward pass: a variable of the loss or of an "
            "output may retain their graph.",
            bytes_of(kept.outlived));
    }
    if (kept.used * least_used_part > context.peak().max) {
        return words("At the peak, {bytes} are activations that forward passes saved for the backward pass.",
                     bytes_of(kept.used));
    }
    return context.lacks_history() ? earlier : std::string();
}

}  // namespace tidemark
