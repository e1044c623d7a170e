// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_optimizers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "storage/explain/composition.h"
#include "storage/explain/growth/model_referrer.h"
#include "storage/explain/private_pools.h"
#include "storage/replay/repeated_step.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/optimizer_spans.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 10;       ///< 1 / 10 of the allocated memory
constexpr size_t fewest_steps = 3;           ///< fewer show no typical pause
constexpr int64_t longer = 3;                ///< than the longest pause before
constexpr int64_t fewest_allocations = 100;  ///< less work is not a phase of its own

/// The lines that call the step() of one class: each may belong to another optimizer.
struct Stepper {
    std::string name;
    FrameId line = 0;
    auto operator<=>(const Stepper&) const = default;
};

/// Returns, by stack, the user's line that called a step(); 0 for stacks outside of steps.
std::vector<FrameId> lines_of_steps(const StackTable& stacks) {
    std::vector<FrameId> lines(stacks.stack_count());
    for (StackId id = 1; id < stacks.stack_count(); ++id) {
        const auto& [caller, frame] = stacks.stack(id);
        const bool is_step = is_torch_function(stacks, stacks.frame(frame), "optim/optimizer.py", "wrapper");
        lines[id] = lines[caller] == 0 && is_step ? stacks.site(caller) : lines[caller];
    }
    return lines;
}

class UnusedOptimizerFinder {
public:
    explicit UnusedOptimizerFinder(const AnalysisContext& context)
        : context_(context),
          allocations_(context.device().allocations),
          line_of_step_(lines_of_steps(context.trace().stacks)) {}

    std::vector<UnusedOptimizer> find() {
        find_steps();
        add_memory();
        std::vector<UnusedOptimizer> found;
        for (auto& [stepper, memory] : memory_) {
            if (std::optional<UnusedOptimizer> unused = unused_optimizer(stepper, std::move(memory))) {
                found.push_back(std::move(*unused));
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const UnusedOptimizer& a, const UnusedOptimizer& b) { return a.bytes > b.bytes; });
        return found;
    }

private:
    /// A call of step(). Steps that allocate nothing have no line.
    struct Step {
        const Annotation* span = nullptr;
        FrameId line = 0;
    };

    FrameId line_of(AllocationIndex a) const { return line_of_step_[allocations_.stack[a]]; }

    void find_steps() {
        for (const Annotation& span : context_.trace().annotations) {
            if (is_optimizer_step(span)) {
                steps_.push_back({&span, line_of_step(span)});
            }
        }
        std::sort(steps_.begin(), steps_.end(),
                  [](const Step& a, const Step& b) { return a.span->start < b.span->start; });
        name_single_steps();
    }

    /// Gives the only step() of a training step the line of the last one that has one: fused optimizers allocate in
    /// their first step() only. Optimizers that take turns have several in some training steps, which stay without.
    void name_single_steps() {
        std::map<std::string, FrameId> last;
        auto step = steps_.begin();
        for (const tidemark::Step& training : context_.trace().steps) {
            const int64_t end = training.end.value_or(context_.now_time());
            const auto first = step;
            while (step != steps_.end() && step->span->start <= end) {
                ++step;
            }
            for (auto each = first; each != step; ++each) {
                FrameId& known = last[optimizer_class(*each->span)];
                each->line = each->line == 0 && step - first == 1 ? known : each->line;
                known = each->line != 0 ? each->line : known;
            }
        }
    }

    /// Returns the line that called it, from the first allocation of a step() in this time. In a training step that
    /// repeats another one, that of the other one's calls, if all of them are of one line.
    FrameId line_of_step(const Annotation& span) const {
        if (const auto repeated = RepeatedStep::at(context_.trace(), context_.device(), span.start)) {
            const std::set<FrameId> lines = lines_between(repeated->like_begin(), repeated->like_end());
            return lines.size() == 1 ? *lines.begin() : 0;
        }
        const auto& made = allocations_.alloc_event;
        const auto first = std::lower_bound(made.begin(), made.end(), context_.device().events_until(span.start - 1));
        for (auto a = static_cast<AllocationIndex>(first - made.begin());
             a < allocations_.size() && context_.device().alloc_time(a) <= span.end; ++a) {
            if (line_of(a) != 0) {
                return line_of(a);
            }
        }
        return 0;
    }

    /// Returns the lines that called a step() which allocated between two states.
    std::set<FrameId> lines_between(EventNumber begin, EventNumber end) const {
        const auto& made = allocations_.alloc_event;
        std::set<FrameId> lines;
        for (auto at = std::lower_bound(made.begin(), made.end(), begin); at != made.end() && *at < end; ++at) {
            lines.insert(line_of(static_cast<AllocationIndex>(at - made.begin())));
        }
        lines.erase(0);
        return lines;
    }

    /// Returns the step() that allocated it; nullptr if there is none.
    const Step* step_of(AllocationIndex a) const {
        const int64_t time = context_.device().alloc_time(a);
        const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                            [](int64_t t, const Step& step) { return t < step.span->start; });
        return after == steps_.begin() || time > std::prev(after)->span->end ? nullptr : &*std::prev(after);
    }

    /// Returns whether the optimizer keeps it: labeled as its state, or allocated by its own code, as the history of
    /// L-BFGS is.
    bool is_state(AllocationIndex a) const {
        const Category category = context_.graph()->categories.at({context_.device_position(), a}, context_.now_time());
        const StackTable& stacks = context_.trace().stacks;
        const FrameId frame = stacks.innermost(allocations_.stack[a]);
        return category == Category::optimizer_state || (category == Category::temporary && frame != 0 &&
                                                         is_torch_function(stacks, stacks.frame(frame), "optim/"));
    }

    void add_memory() {
        for (const AllocationIndex a : allocated_at(context_, context_.now())) {
            const Step* step = is_state(a) ? step_of(a) : nullptr;
            if (step && line_of(a) != 0) {
                memory_[{optimizer_class(*step->span), line_of(a)}].push_back(a);
            }
        }
    }

    std::optional<UnusedOptimizer> unused_optimizer(const Stepper& stepper, std::vector<AllocationIndex> memory) const {
        UnusedOptimizer found{stepper.name, std::move(memory)};
        for (const AllocationIndex a : found.memory) {
            found.bytes += static_cast<int64_t>(allocations_.block_size[a]);
        }
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        if (found.bytes < least_bytes || found.bytes * least_fraction < allocated) {
            return std::nullopt;
        }
        int64_t longest_pause = 0;
        for (const Step& step : steps_) {
            if (optimizer_class(*step.span) != stepper.name || (step.line != 0 && step.line != stepper.line)) {
                ++found.later_steps;
                continue;
            }
            longest_pause = found.steps == 0 ? 0 : std::max(longest_pause, step.span->start - found.last_step);
            found.first_step = found.steps == 0 ? step.span->start : found.first_step;
            found.last_step = step.span->end;
            found.later_steps = 0;
            ++found.steps;
        }
        if (found.steps < fewest_steps || !is_idle(found, longest_pause)) {
            return std::nullopt;
        }
        find_referrer(found);
        return found;
    }

    bool is_idle(const UnusedOptimizer& optimizer, int64_t longest_pause) const {
        const int64_t idle = context_.now_time() - optimizer.last_step;
        const auto& made = allocations_.alloc_event;
        const auto later =
            std::lower_bound(made.begin(), made.end(), context_.now()) -
            std::lower_bound(made.begin(), made.end(), context_.device().events_until(optimizer.last_step));
        return idle > longer * longest_pause && 5 * idle >= 2 * (context_.now_time() - optimizer.first_step) &&
               later >= fewest_allocations;
    }

    const std::string& name_of(AllocationIndex a) const {
        return context_.graph()->categories.name({context_.device_position(), a});
    }

    /// Returns the parameters to which the state belongs: "Net.weight" of the same size for "exp_avg of Net.weight".
    /// Omits those of which another optimizer may keep state, too, or which have equal ones.
    std::vector<AllocationIndex> parameters_of(const UnusedOptimizer& optimizer) const {
        using Tensor = std::pair<std::string_view, uint64_t>;  // name and bytes
        std::map<Tensor, std::vector<AllocationIndex>> parameters;
        std::map<Tensor, int> states;
        for (const AllocationIndex a : allocated_at(context_, context_.now())) {
            const Category category =
                context_.graph()->categories.at({context_.device_position(), a}, context_.now_time());
            const Tensor tensor{name_of(a), allocations_.requested[a]};
            if (category == Category::parameter) {
                parameters[tensor].push_back(a);
            } else if (category == Category::optimizer_state) {
                ++states[tensor];
            }
        }
        std::vector<AllocationIndex> found;
        for (const AllocationIndex a : optimizer.memory) {
            const std::string_view name = name_of(a);
            const uint64_t bytes = allocations_.requested[a];
            const size_t of = name.find(" of ");
            const auto parameter = of == name.npos ? parameters.end() : parameters.find({name.substr(of + 4), bytes});
            if (parameter != parameters.end() && parameter->second.size() == 1 && states[{name, bytes}] == 1) {
                found.push_back(parameter->second.front());
            }
        }
        return found;
    }

    /// Finds a path to one of these that a scan found at this time or later.
    bool find_path(UnusedOptimizer& optimizer, const std::vector<AllocationIndex>& memory, int64_t time) const {
        for (const AllocationIndex a : memory) {
            const Referrer* referrer = context_.graph()->referrers.in_python({context_.device_position(), a});
            const GraphTables& tables = context_.graph()->tables();
            const auto links = referrer ? links_to_optimizer(tables, referrer->links, optimizer.name) : std::nullopt;
            if (links && tables.scans[referrer->scan].time >= time) {
                optimizer.referrer = referrer;
                optimizer.links = *links;
                return true;
            }
        }
        return false;
    }

    /// Returns whether a method of a library's class allocated one of them.
    bool has_method_of(const std::string& owner, const std::vector<AllocationIndex>& memory) const {
        const StackTable& stacks = context_.trace().stacks;
        return std::any_of(memory.begin(), memory.end(), [&](AllocationIndex a) {
            const std::vector<FrameId> frames = stacks.frames_of(allocations_.stack[a]);
            return std::any_of(frames.begin(), frames.end(), [&](FrameId id) {
                return stacks.role(id) == FrameRole::library &&
                       is_method_of(stacks.string(stacks.frame(id).function), owner);
            });
        });
    }

    /// Finds a list of optimizers that belongs to an object which moved the parameters to the GPU. The path of a scan,
    /// also a later one, may lead to another element of it: the object keeps each optimizer that it prepared.
    bool find_list(UnusedOptimizer& optimizer, const std::vector<AllocationIndex>& parameters) const {
        const GraphTables& tables = context_.graph()->tables();
        for (size_t i = tables.referrers.size(); i-- > 0;) {
            const Referrer& referrer = tables.referrers[i];
            const size_t list = container_end(referrer.links);
            const auto links = links_to_optimizer(tables, referrer.links, optimizer.name);
            const bool is_in_list = links && list > 0 && list < *links;
            const std::string owner = is_in_list ? owner_of(tables, referrer.links[list - 1]) : std::string();
            if (!owner.empty() && has_method_of(owner, parameters)) {
                optimizer.referrer = &referrer;
                optimizer.links = *links;
                optimizer.is_other_element = true;
                return true;
            }
        }
        return false;
    }

    /// A scan leaves out memory that does not grow and whose purpose is known, so it may have found no state. The path
    /// to a parameter leads through the optimizer as well, if no variable refers to the model any more. A variable that
    /// a scan found before the last step may belong to a function that has returned.
    void find_referrer(UnusedOptimizer& optimizer) const {
        const std::vector<AllocationIndex> parameters = parameters_of(optimizer);
        const bool is_found = find_path(optimizer, optimizer.memory, optimizer.last_step) ||
                              find_path(optimizer, parameters, optimizer.last_step) || find_list(optimizer, parameters);
        if (!is_found) {
            find_path(optimizer, optimizer.memory, 0);
        }
    }

    const AnalysisContext& context_;
    const Allocations& allocations_;
    std::vector<FrameId> line_of_step_;  ///< by stack
    std::vector<Step> steps_;            ///< by time
    std::map<Stepper, std::vector<AllocationIndex>> memory_;
};

}  // namespace

std::vector<UnusedOptimizer> find_unused_optimizers(const AnalysisContext& context) {
    if (!context.graph() || !find_private_pools(context).pools.empty()) {
        return {};
    }
    return UnusedOptimizerFinder(context).find();
}

}  // namespace tidemark
