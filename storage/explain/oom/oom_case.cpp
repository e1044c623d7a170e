// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/oom_case.h"

#include <algorithm>

#include "storage/explain/composition.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

std::vector<AllocationIndex> by_age(std::vector<AllocationIndex> all) {
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

OomCase::OomCase(const AnalysisContext& context, const OomAnalysis& analysis, const Experiments& experiments)
    : context_(context),
      analysis_(analysis),
      experiments_(experiments),
      alive_(by_age(allocated_at(context, analysis.before))),
      in_use_(bytes(alive_)),
      retained_(context, analysis.oom, alive_),
      iteration_(find_failed_iteration(context, analysis.oom)),
      sizes_(context, analysis.oom),
      growing_requests_(sizes_.growing_requests()) {
    if (iteration_) {
        with_last_ = compare_input(context, sizes_, *iteration_, iteration_->good - 1);
        with_largest_ = compare_input(context, sizes_, *iteration_, extreme_iterations(context, *iteration_).highest);
    }
}

int64_t OomCase::competing() const {
    return in_use_ + (analysis_.is_refused_by_limit() ? 0 : context_.row().bytes_of(ComponentKind::other_processes));
}

int64_t OomCase::bytes(std::span<const AllocationIndex> all) const {
    int64_t sum = 0;
    for (const AllocationIndex a : all) {
        sum += bytes(a);
    }
    return sum;
}

Category OomCase::category(AllocationIndex a) const {
    const int64_t time = context_.device().time_of_state(analysis_.before);
    return context_.graph() ? context_.graph()->categories.at({context_.device_position(), a}, time)
                            : Category::unknown;
}

std::optional<int64_t> OomCase::capacity() const {
    return experiments_.capacity ? std::optional(experiments_.capacity->bytes) : std::nullopt;
}

std::optional<int64_t> OomCase::parts_that_fit(int64_t divided) const {
    const int64_t fixed = in_use() + static_cast<int64_t>(analysis_.state.pending) - divided;
    const int64_t all = divided + analysis_.requested();
    const int64_t room = capacity().value_or(0) - fixed;
    return room > 0 ? std::optional((all + room - 1) / room) : std::nullopt;
}

std::optional<int64_t> OomCase::largest_servable() const {
    const MemoryState& state = analysis_.state;
    const auto in_new_segment = [&](int64_t bytes) { return bytes - static_cast<int64_t>(state.reserved); };
    return capacity() ? std::optional(std::max(static_cast<int64_t>(state.largest_gap), in_new_segment(*capacity())))
                      : std::nullopt;
}

bool OomCase::fits_without(int64_t freed) const {
    const int64_t pending = static_cast<int64_t>(analysis_.state.pending);
    return capacity() && in_use_ + pending - freed + analysis_.requested() <= *capacity();
}

std::optional<int> OomCase::growth_power_of(const SiteKey& key) const {
    return with_last_ ? growth_power(key, with_last_->failed, with_last_->base, with_last_->ratio) : std::nullopt;
}

bool OomCase::is_optimizer_step() const {
    if (phase() == Phase::optimizer) {
        return true;
    }
    const std::vector<FrameId> frames = stacks().frames_of(oom().stack);
    return std::any_of(frames.begin(), frames.end(),
                       [&](FrameId id) { return is_torch_function(stacks(), stacks().frame(id), "optim/", "step"); });
}

}  // namespace tidemark
