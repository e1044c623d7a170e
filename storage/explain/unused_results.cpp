// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_results.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "storage/explain/module_use.h"
#include "storage/explain/private_pools.h"
#include "storage/explain/retention.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t fewest_passes = 3;     ///< fewer do not show that each replaces the results of the one before
constexpr size_t fewest_modules = 2;

/// What one call in one module allocated in all forward passes with one size: a result, or a workspace.
struct Result {
    AllocationIndex newest = no_allocation;
    size_t made = 0, alive = 0;
};

class UnusedResultsFinder {
public:
    explicit UnusedResultsFinder(const AnalysisContext& context)
        : context_(context), allocations_(context.device().allocations), modules_(context) {}

    std::vector<UnusedResults> find() {
        find_results();
        std::map<ModuleId, UnusedResults> by_model;
        std::map<ModuleId, std::set<ModuleId>> makers;
        for (const auto& [call, result] : results_) {
            if (is_left_behind(result)) {
                const ModuleId maker = modules_.of_origin(std::get<1>(call)), model = model_of(maker);
                add(by_model[model], result);
                makers[model].insert(maker);
            }
        }
        std::vector<UnusedResults> found;
        for (auto& [model, results] : by_model) {
            results.modules = makers[model].size();
            if (results.modules >= fewest_modules && is_large(results.bytes)) {
                complete(results, model);
                found.push_back(std::move(results));
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const UnusedResults& a, const UnusedResults& b) { return a.bytes > b.bytes; });
        return found;
    }

private:
    /// The stack, the position in Trace::origins (op, module), and the requested bytes.
    using Call = std::tuple<StackId, uint32_t, uint64_t>;

    void find_results() {
        for (AllocationIndex a = 0; a < allocations_.size() && allocations_.alloc_event[a] < context_.now(); ++a) {
            const ModuleId module = modules_.of_origin(allocations_.origin[a]);
            if (allocations_.alloc_event[a] == before_history || model_of(module) == no_module) {
                continue;
            }
            Result& result = results_[{allocations_.stack[a], allocations_.origin[a], allocations_.requested[a]}];
            result.newest = a;
            ++result.made;
            result.alive += is_alive(a);
        }
    }

    /// Returns the outermost idle module around it; no_module if there is none.
    ModuleId model_of(ModuleId module) {
        if (const auto known = model_of_.find(module); known != model_of_.end()) {
            return known->second;
        }
        ModuleId model = no_module;
        modules_.for_each_around(module, [&](ModuleId around) { model = modules_.is_idle(around) ? around : model; });
        return model_of_[module] = model;
    }

    bool is_alive(AllocationIndex a) const { return allocations_.free_event[a] >= context_.now(); }

    bool is_left_behind(const Result& result) const {
        if (result.alive != 1 || !is_alive(result.newest) || result.made < fewest_passes) {
            return false;
        }
        const Category category =
            context_.graph()->categories.at({context_.device_position(), result.newest}, context_.now_time());
        return category == Category::output || category == Category::saved || category == Category::temporary ||
               category == Category::unknown;
    }

    void add(UnusedResults& results, const Result& result) const {
        results.passes = results.memory.empty() ? result.made : std::min(results.passes, result.made);
        results.memory.push_back(result.newest);
        results.bytes += static_cast<int64_t>(allocations_.block_size[result.newest]);
    }

    bool is_large(int64_t bytes) const {
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        return bytes >= least_bytes && bytes * least_fraction >= allocated;
    }

    void complete(UnusedResults& results, ModuleId model) const {
        results.module = modules_.all()[model].path;
        results.last_used = modules_.all()[model].last_used;
        results.idle = modules_.idle_iterations(model);
        std::stable_sort(results.memory.begin(), results.memory.end(), [&](AllocationIndex a, AllocationIndex b) {
            return allocations_.block_size[a] > allocations_.block_size[b];
        });
        std::set<StackId> stacks;
        for (const AllocationIndex a : results.memory) {
            const Referrer* referrer = stacks.insert(allocations_.stack[a]).second ? referrer_of(a) : nullptr;
            if (referrer) {
                results.referrers.push_back(referrer);
            }
        }
    }

    const Referrer* referrer_of(AllocationIndex a) const {
        const GraphContext& graph = *context_.graph();
        const Referrer* referrer = retention_of(graph, {context_.device_position(), a}).referrer;
        return referrer
                   ? referrer
                   : outermost_referrer(graph, context_.device_position(), allocations_.stack[a], context_.now_time());
    }

    const AnalysisContext& context_;
    const Allocations& allocations_;
    ModuleUses modules_;
    std::map<ModuleId, ModuleId> model_of_;
    std::map<Call, Result> results_;
};

}  // namespace

std::vector<UnusedResults> find_unused_results(const AnalysisContext& context) {
    if (!context.graph() || !find_private_pools(context).pools.empty()) {
        return {};
    }
    return UnusedResultsFinder(context).find();
}

}  // namespace tidemark
