// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_gradients.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "storage/explain/composition.h"
#include "storage/explain/optimizer_spans.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t fewest_steps = 3;
/// Less work may be followed by more training.
constexpr int64_t fewest_allocations = 50;

/// What the trace knows of the parameters with one name. Models of one class share their names.
struct Parameter {
    bool has_state = false;       ///< an optimizer keeps state for it
    std::set<uint16_t> versions;  ///< that nodes saved; each update in place makes a new one
    int64_t first = 0, last = 0;  ///< when the first and the last of these nodes was created
};
using ParametersByName = std::unordered_map<std::string, Parameter>;

ParametersByName read_parameters(const GraphContext& graph) {
    constexpr std::string_view of = " of ";
    const GraphTables& tables = graph.tables();
    ParametersByName parameters;
    std::unordered_map<uint64_t, Parameter*> by_memory;
    for (const CategoryLabel& label : tables.labels) {
        const std::string& name = tables.texts[label.name];
        if (label.category == Category::parameter) {
            by_memory[memory_key(label.allocation)] = &parameters[name];
        } else if (const size_t end = name.find(of);
                   label.category == Category::optimizer_state && end != std::string::npos) {
            parameters[name.substr(end + of.size())].has_state = true;
        }
    }
    for (uint32_t s = 0; s < tables.saved.allocation.size(); ++s) {
        const auto found = by_memory.find(memory_key(tables.saved.allocation[s]));
        if (found == by_memory.end()) {
            continue;
        }
        Parameter& parameter = *found->second;
        const int64_t time = tables.nodes.created[graph.index.saver(s)];
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

/// Returns the last time at which a backward pass allocated memory or executed a node.
int64_t last_backward(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    int64_t last = 0;
    for (AllocationIndex a = allocations.size(); a-- > 0 && last == 0;) {
        if (context.trace().origins[allocations.origin[a]].phase == Phase::backward) {
            last = context.device().alloc_time(a);
        }
    }
    for (const int64_t executed : context.graph()->tables().nodes.executed) {
        last = executed == never_happened ? last : std::max(last, executed);
    }
    return last;
}

/// Decides which parameters no optimizer updates.
class Updates {
public:
    explicit Updates(const AnalysisContext& context)
        : context_(context), parameters_(read_parameters(*context.graph())) {
        for (const auto& [name, parameter] : parameters_) {
            has_stateful_ = has_stateful_ || parameter.has_state;
            has_stateless_ = has_stateless_ || (!parameter.has_state && parameter.versions.size() > 1);
        }
    }

    /// Returns whether the graph shows the same values before and after several steps.
    bool is_seen_unchanged(const std::string& name) const {
        const auto found = parameters_.find(name);
        return found != parameters_.end() && !found->second.has_state && found->second.versions.size() == 1 &&
               steps_between(context_, found->second.first, found->second.last) >= fewest_steps;
    }
    /// Returns whether no optimizer updates the parameter. Not every parameter is saved by a node; if all updates come
    /// from optimizers with state, a parameter without state gets none.
    bool is_not_updated(const std::string& name) const {
        const auto found = parameters_.find(name);
        const bool has_no_state = found != parameters_.end() && !found->second.has_state;
        return is_seen_unchanged(name) ||
               (has_no_state && found->second.versions.size() <= 1 && has_stateful_ && !has_stateless_);
    }

private:
    const AnalysisContext& context_;
    ParametersByName parameters_;
    bool has_stateful_ = false;   ///< an optimizer with state exists
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
        found.is_seen = std::any_of(found.gradients.begin(), found.gradients.end(),
                                    [&](AllocationIndex a) { return updates.is_seen_unchanged(name_of(a)); });
        found.steps = found.gradients.empty()
                          ? 0
                          : steps_between(context, context.device().alloc_time(found.gradients[0]), context.now_time());
    }
    const int64_t allocated = context.curves().value(Series::allocated, context.now());
    const bool is_worth_reporting = found.bytes >= std::max(least_bytes, allocated / least_fraction);
    return is_worth_reporting ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace tidemark
