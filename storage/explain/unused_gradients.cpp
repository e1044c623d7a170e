// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_gradients.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "storage/explain/composition.h"
#include "storage/explain/repeated_work.h"
#include "storage/explain/unused_optimizers.h"
#include "storage/trace/optimizer_spans.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t fewest_steps = 3;
/// Less work may be followed by more training.
constexpr int64_t fewest_allocations = 50;

/// What the trace knows of the parameters with one name. Models of one class share their names.
struct Parameter {
    int64_t updated_until = 0;    ///< ns since trace start: an optimizer that steps kept state for it; 0: none did
    std::set<uint16_t> versions;  ///< that nodes saved since then; each update in place makes a new one
    int64_t first = 0, last = 0;  ///< when the first and the last of these nodes was created
};
using ParametersByName = std::unordered_map<std::string, Parameter>;

using TimeByMemory = std::unordered_map<uint64_t, int64_t>;

/// Returns when the optimizers that do not step any more took their last step, by the memory of their state.
TimeByMemory last_steps(const AnalysisContext& context) {
    TimeByMemory last;
    for (const UnusedOptimizer& unused : find_unused_optimizers(context)) {
        for (const AllocationIndex a : unused.memory) {
            last[memory_key({context.device_position(), a})] = unused.last_step;
        }
    }
    return last;
}

/// Returns until when an optimizer that steps keeps this state.
int64_t updated_until(const Trace& trace, AllocationRef state, const TimeByMemory& last_step) {
    if (!state) {
        return never_happened;
    }
    const auto idle = last_step.find(memory_key(state));
    return idle == last_step.end() ? trace.devices[state.device].free_time(state.index).value_or(never_happened)
                                   : idle->second;
}

ParametersByName read_parameters(const AnalysisContext& context) {
    constexpr std::string_view of = " of ";
    const GraphContext& graph = *context.graph();
    const GraphTables& tables = graph.tables();
    const TimeByMemory last_step = last_steps(context);
    ParametersByName parameters;
    std::unordered_map<uint64_t, Parameter*> by_memory;
    for (const CategoryLabel& label : tables.labels) {
        const std::string& name = tables.texts[label.name];
        if (label.category == Category::parameter) {
            by_memory[memory_key(label.allocation)] = &parameters[name];
        } else if (const size_t end = name.find(of);
                   label.category == Category::optimizer_state && end != std::string::npos) {
            int64_t& until = parameters[name.substr(end + of.size())].updated_until;
            until = std::max(until, updated_until(context.trace(), label.allocation, last_step));
        }
    }
    for (uint32_t s = 0; s < tables.saved.allocation.size(); ++s) {
        const auto found = by_memory.find(memory_key(tables.saved.allocation[s]));
        if (found == by_memory.end()) {
            continue;
        }
        Parameter& parameter = *found->second;
        const int64_t time = tables.nodes.created[graph.index.saver(s)];
        if (time < parameter.updated_until) {
            continue;
        }
        parameter.first = parameter.versions.empty() ? time : std::min(parameter.first, time);
        parameter.last = std::max(parameter.last, time);
        parameter.versions.insert(tables.saved.version[s]);
    }
    return parameters;
}

/// Returns the named gradients that exist at the context's time point, most bytes first.
std::vector<AllocationIndex> named_gradients(const AnalysisContext& context) {
    std::vector<AllocationIndex> gradients = allocated_at(context, context.now());
    std::erase_if(gradients, [&](AllocationIndex a) {
        const AllocationRef allocation{context.device_position(), a};
        const Categories& categories = context.graph()->categories;
        return categories.at(allocation, context.now_time()) != Category::gradient ||
               categories.name(allocation).empty();
    });
    return gradients;
}

/// Returns how many optimizer steps began between two times.
size_t steps_between(const AnalysisContext& context, int64_t from, int64_t to) {
    const auto& spans = context.trace().annotations;
    return static_cast<size_t>(std::count_if(spans.begin(), spans.end(), [&](const Annotation& span) {
        return is_optimizer_step(span) && span.start >= from && span.start < to;
    }));
}

bool is_backward(const AnalysisContext& context, AllocationIndex a) {
    return context.trace().origins[context.device().allocations.origin[a]].phase == Phase::backward;
}

/// Returns the end of the last repeated step with a backward pass; 0: there is none. A step whose details were deleted
/// may have had one.
int64_t last_repeated_backward(const AnalysisContext& context) {
    const auto& repeats = context.device().repeats;
    for (auto steps = repeats.rbegin(); steps != repeats.rend(); ++steps) {
        if (steps->are_details_deleted()) {
            return steps->end;
        }
        const AllocationRange range = repeated_allocations(context.trace(), context.device(), *steps);
        for (AllocationIndex a = range.begin; a < range.end; ++a) {
            if (is_backward(context, a)) {
                return steps->end;
            }
        }
    }
    return 0;
}

/// Returns the last time at which a backward pass allocated memory or executed a node.
int64_t last_backward(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    int64_t last = 0;
    for (AllocationIndex a = allocations.size(); a-- > 0 && last == 0;) {
        if (is_backward(context, a)) {
            last = context.device().alloc_time(a);
        }
    }
    for (const int64_t executed : context.graph()->tables().nodes.executed) {
        last = executed == never_happened ? last : std::max(last, executed);
    }
    return std::max(last, last_repeated_backward(context));
}

/// Decides which parameters no optimizer updates.
class Updates {
public:
    explicit Updates(const AnalysisContext& context) : context_(context), parameters_(read_parameters(context)) {
        for (const auto& [name, parameter] : parameters_) {
            last_state_ = std::max(last_state_, std::min(parameter.updated_until, context.now_time()));
            has_stateless_ = has_stateless_ || (!has_state(parameter) && parameter.versions.size() > 1);
        }
    }

    /// Returns whether the graph shows the same values before and after several steps.
    bool is_seen_unchanged(const std::string& name) const {
        const Parameter* parameter = find(name);
        return parameter && parameter->versions.size() == 1 &&
               steps_between(context_, parameter->first, parameter->last) >= fewest_steps;
    }
    /// Returns whether no optimizer updates the parameter. Not every parameter is saved by a node; if all updates come
    /// from optimizers with state, a parameter without state gets none.
    bool is_not_updated(const std::string& name) const {
        const Parameter* parameter = find(name);
        return is_seen_unchanged(name) ||
               (parameter && parameter->versions.size() <= 1 && !has_stateless_ &&
                steps_between(context_, parameter->updated_until, last_state_) >= fewest_steps);
    }
    /// Returns until when an optimizer updated the parameter; 0: never.
    int64_t updated_until(const std::string& name) const {
        const Parameter* parameter = find(name);
        return parameter ? parameter->updated_until : 0;
    }

private:
    bool has_state(const Parameter& parameter) const { return parameter.updated_until >= context_.now_time(); }
    /// Returns nullptr if an optimizer keeps state for it.
    const Parameter* find(const std::string& name) const {
        const auto found = parameters_.find(name);
        return found == parameters_.end() || has_state(found->second) ? nullptr : &found->second;
    }

    const AnalysisContext& context_;
    ParametersByName parameters_;
    int64_t last_state_ = 0;      ///< until when an optimizer that steps kept state for any parameter
    bool has_stateless_ = false;  ///< a parameter changes without state, as with plain SGD
};

/// Returns the first two parts of a parameter's name: "VisionTransformer.encoder".
std::string part_of(const std::string& name) {
    const size_t first = name.find('.');
    const size_t second = first == std::string::npos ? first : name.find('.', first + 1);
    return name.substr(0, second == std::string::npos ? first : second);
}

UnusedGradients describe(const AnalysisContext& context, std::vector<AllocationIndex> gradients) {
    UnusedGradients found;
    std::map<std::string, int64_t> bytes_of;
    for (const AllocationIndex a : gradients) {
        const auto bytes = static_cast<int64_t>(context.device().allocations.block_size[a]);
        found.bytes += bytes;
        bytes_of[part_of(context.graph()->categories.name({context.device_position(), a}))] += bytes;
    }
    found.gradients = std::move(gradients);
    for (const auto& [part, bytes] : bytes_of) {
        found.parts.push_back(part);
    }
    std::stable_sort(found.parts.begin(), found.parts.end(),
                     [&](const std::string& a, const std::string& b) { return bytes_of[a] > bytes_of[b]; });
    return found;
}

/// Returns whether neither a backward pass nor an optimizer ran in the last half of the run, by time and by
/// allocations.
bool has_training_ended(const AnalysisContext& context, int64_t since) {
    const int64_t last = last_backward(context), now = context.now_time();
    const auto& made = context.device().allocations.alloc_event;
    const auto later = made.end() - std::upper_bound(made.begin(), made.end(), context.device().events_until(last));
    return 2 * (now - last) >= now && later >= fewest_allocations && 2 * later >= static_cast<int64_t>(made.size()) &&
           steps_between(context, since, now) == 0;
}

}  // namespace

std::optional<UnusedGradients> find_unused_gradients(const AnalysisContext& context) {
    if (!context.graph()) {
        return std::nullopt;
    }
    std::vector<AllocationIndex> gradients = named_gradients(context);
    if (gradients.empty()) {
        return std::nullopt;
    }
    const auto name_of = [&](AllocationIndex a) -> const std::string& {
        return context.graph()->categories.name({context.device_position(), a});
    };
    UnusedGradients found;
    if (has_training_ended(context, context.device().alloc_time(gradients.front()))) {
        found = describe(context, std::move(gradients));
        found.because = UnusedBecause::training_ended;
    } else {
        const Updates updates(context);
        std::erase_if(gradients, [&](AllocationIndex a) {
            return steps_between(context, context.device().alloc_time(a), context.now_time()) < fewest_steps ||
                   !updates.is_not_updated(name_of(a));
        });
        found = describe(context, std::move(gradients));
        if (!found.gradients.empty()) {
            const AllocationIndex largest = found.gradients.front();
            found.since = updates.updated_until(name_of(largest));
            found.because = found.since > 0 ? UnusedBecause::optimizer_ended : UnusedBecause::not_optimized;
            found.steps =
                steps_between(context, std::max(found.since, context.device().alloc_time(largest)), context.now_time());
        }
        found.is_seen = std::any_of(found.gradients.begin(), found.gradients.end(),
                                    [&](AllocationIndex a) { return updates.is_seen_unchanged(name_of(a)); });
    }
    const int64_t allocated = context.curves().value(Series::allocated, context.now());
    const bool is_worth_reporting = found.bytes >= std::max(least_bytes, allocated / least_fraction);
    return is_worth_reporting ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace tidemark
