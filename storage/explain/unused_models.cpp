// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/unused_models.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/explain/composition.h"
#include "storage/explain/private_pools.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory
constexpr size_t fewest_idle = 10;      ///< iterations
constexpr int64_t longer = 3;           ///< than the longest pause before

using ModuleId = uint32_t;
constexpr ModuleId no_module = 0;
constexpr int64_t most_levels = 256;  ///< of modules; a damaged file may have names of dots only

/// A module, with all modules in it.
struct Module {
    std::string path;
    ModuleId parent = no_module;
    EventNumber last_used = never;  ///< never: it has not run
    int64_t last_time = 0, longest_pause = 0;
    int64_t bytes = 0;  ///< of its parameters and what belongs to them
};

class ModuleTree {
public:
    ModuleId id_of(const std::string& path) {
        if (path.empty() || std::count(path.begin(), path.end(), '.') > most_levels) {
            return no_module;
        }
        const auto [found, is_new] = ids_.try_emplace(path, static_cast<ModuleId>(modules_.size()));
        const ModuleId id = found->second;
        if (is_new) {
            modules_.push_back({path});
            const size_t end = path.rfind('.');
            const ModuleId parent = end == path.npos ? no_module : id_of(path.substr(0, end));
            modules_[id].parent = parent;
        }
        return id;
    }
    /// Calls visit(Module&) for the module and all that contain it.
    template <class Visit>
    void for_each_around(ModuleId id, Visit&& visit) {
        for (; id != no_module; id = modules_[id].parent) {
            visit(modules_[id]);
        }
    }
    bool is_in(ModuleId id, ModuleId outer) const {
        while (id != no_module && id != outer) {
            id = modules_[id].parent;
        }
        return id == outer;
    }
    const std::vector<Module>& all() const { return modules_; }  ///< the first one is none

private:
    std::vector<Module> modules_{1};
    std::unordered_map<std::string, ModuleId> ids_;
};

/// Returns "Net.encoder" for "Net.encoder.weight" and for "exp_avg of Net.encoder.weight".
std::string module_of_label(std::string_view name) {
    name = labeled_tensor(name);
    const size_t end = name.rfind('.');
    return end == name.npos ? std::string() : std::string(name.substr(0, end));
}

class UnusedModelFinder {
public:
    explicit UnusedModelFinder(const AnalysisContext& context) : context_(context) {}

    std::vector<UnusedModel> find() {
        find_use();
        add_memory();
        std::vector<UnusedModel> found;
        for (ModuleId id = 1; id < tree_.all().size(); ++id) {
            if (is_unused(tree_.all()[id]) && !is_unused(tree_.all()[tree_.all()[id].parent])) {
                found.push_back(describe(id));
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const UnusedModel& a, const UnusedModel& b) { return a.bytes > b.bytes; });
        return found;
    }

private:
    void find_use() {
        std::vector<ModuleId> module_of_origin;
        module_of_origin.reserve(context_.trace().origins.size());
        for (const Origin& origin : context_.trace().origins) {
            module_of_origin.push_back(tree_.id_of(origin.module));
        }
        const DeviceHistory& device = context_.device();
        const Allocations& all = device.allocations;
        for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] < context_.now(); ++a) {
            if (all.origin[a] < module_of_origin.size() && all.alloc_event[a] != before_history) {
                use(module_of_origin[all.origin[a]], all.alloc_event[a], device.alloc_time(a));
            }
        }
    }

    void use(ModuleId id, EventNumber event, int64_t time) {
        tree_.for_each_around(id, [&](Module& module) {
            if (module.last_used != never) {
                module.longest_pause = std::max(module.longest_pause, time - module.last_time);
            }
            module.last_used = event;
            module.last_time = time;
        });
        last_used_ = id == no_module ? last_used_ : event;
    }

    void add_memory() {
        const Categories& categories = context_.graph()->categories;
        for (const AllocationIndex a : allocated_at(context_, context_.now())) {
            const AllocationRef allocation{context_.device_position(), a};
            if (!is_retained_outside_graph(categories.at(allocation, context_.now_time()))) {
                continue;
            }
            const ModuleId id = tree_.id_of(module_of_label(categories.name(allocation)));
            memory_.emplace_back(a, id);
            tree_.for_each_around(id, [&](Module& module) { module.bytes += bytes_of(a); });
        }
    }

    int64_t bytes_of(AllocationIndex a) const {
        return static_cast<int64_t>(context_.device().allocations.block_size[a]);
    }

    size_t iterations_since(EventNumber event) const {
        const Iterations& iterations = context_.iterations();
        const auto begun = static_cast<size_t>(iterations.at(event) + 1);  // one more than there are after the last
        return iterations.size() - std::min(begun, iterations.size());
    }

    bool is_unused(const Module& module) const {
        const int64_t allocated = context_.curves().value(Series::allocated, context_.now());
        if (module.last_used == never || module.bytes < least_bytes || module.bytes * least_fraction < allocated) {
            return false;
        }
        const size_t count = context_.iterations().size(), idle = iterations_since(module.last_used);
        const bool others_run = iterations_since(last_used_) * 4 <= idle;
        return others_run && idle >= fewest_idle && 2 * idle >= count &&
               context_.now_time() - module.last_time > longer * module.longest_pause;
    }

    UnusedModel describe(ModuleId id) const {
        const Module& module = tree_.all()[id];
        UnusedModel found{module.path, {}, module.bytes, module.last_used, iterations_since(module.last_used)};
        for (const auto& [a, of] : memory_) {
            if (tree_.is_in(of, id)) {
                found.memory.push_back(a);
            }
        }
        return found;
    }

    const AnalysisContext& context_;
    ModuleTree tree_;
    EventNumber last_used_ = 0;                                 ///< by any module
    std::vector<std::pair<AllocationIndex, ModuleId>> memory_;  ///< most bytes first
};

}  // namespace

std::vector<UnusedModel> find_unused_models(const AnalysisContext& context) {
    if (!context.graph() || context.iterations().size() < fewest_idle || !find_private_pools(context).pools.empty()) {
        return {};
    }
    return UnusedModelFinder(context).find();
}

}  // namespace tidemark
