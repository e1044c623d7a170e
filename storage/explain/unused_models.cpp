// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_models.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "storage/explain/composition.h"
#include "storage/explain/module_use.h"
#include "storage/explain/private_pools.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory

/// Returns "Net.encoder" for "Net.encoder.weight" and for "exp_avg of Net.encoder.weight".
std::string module_of_label(std::string_view name) {
    name = labeled_tensor(name);
    const size_t end = name.rfind('.');
    return end == name.npos ? std::string() : std::string(name.substr(0, end));
}

class UnusedModelFinder {
public:
    explicit UnusedModelFinder(const AnalysisContext& context) : context_(context), modules_(context) {}

    std::vector<UnusedModel> find() {
        add_memory();
        std::vector<UnusedModel> found;
        for (ModuleId id = 1; id < modules_.all().size(); ++id) {
            if (is_unused(id) && !is_unused(modules_.all()[id].parent)) {
                found.push_back(describe(id));
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const UnusedModel& a, const UnusedModel& b) { return a.bytes > b.bytes; });
        return found;
    }

private:
    void add_memory() {
        const Categories& categories = context_.graph()->categories;
        for (const AllocationIndex a : allocated_at(context_, context_.now())) {
            const AllocationRef allocation{context_.device_position(), a};
            if (is_retained_outside_graph(categories.at(allocation, context_.now_time()))) {
                memory_.emplace_back(a, modules_.id_of(module_of_label(categories.name(allocation))));
            }
        }
        bytes_.resize(modules_.all().size());
        for (const auto& [a, of] : memory_) {
            const auto bytes = static_cast<int64_t>(context_.device().allocations.block_size[a]);
            modules_.for_each_around(of, [&, bytes = bytes](ModuleId module) { bytes_[module] += bytes; });
        }
    }

    bool is_unused(ModuleId id) const {
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        return bytes_[id] >= least_bytes && bytes_[id] * least_fraction >= allocated && modules_.is_idle(id);
    }

    UnusedModel describe(ModuleId id) const {
        const ModuleUse& module = modules_.all()[id];
        UnusedModel found{module.path, {}, bytes_[id], module.last_used, modules_.idle_iterations(id)};
        for (const auto& [a, of] : memory_) {
            if (modules_.is_in(of, id)) {
                found.memory.push_back(a);
            }
        }
        return found;
    }

    const AnalysisContext& context_;
    ModuleUses modules_;
    std::vector<std::pair<AllocationIndex, ModuleId>> memory_;  ///< most bytes first
    std::vector<int64_t> bytes_;  ///< by module: of its parameters and what belongs to them
};

}  // namespace

std::vector<UnusedModel> find_unused_models(const AnalysisContext& context) {
    if (!context.graph() || !find_private_pools(context).pools.empty()) {
        return {};
    }
    return UnusedModelFinder(context).find();
}

}  // namespace tidemark
