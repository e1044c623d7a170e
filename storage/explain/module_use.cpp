// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/module_use.h"

#include <algorithm>

#include "storage/explain/repeated_work.h"

namespace tidemark {
namespace {

constexpr size_t fewest_idle = 10;  ///< iterations
constexpr int64_t longer = 3;       ///< than the longest pause before

constexpr int64_t most_levels = 256;  ///< of modules; a damaged file may have names of dots only

}  // namespace

ModuleUses::ModuleUses(const AnalysisContext& context) : context_(context) {
    of_origin_.reserve(context.trace().origins.size());
    for (const Origin& origin : context.trace().origins) {
        of_origin_.push_back(id_of(origin.module));
    }
    const Allocations& all = context.device().allocations;
    const auto& repeats = context.device().repeats;
    auto next = repeats.begin();
    const auto use_all_before = [&](EventNumber event) {
        for (; next != repeats.end() && next->event <= event; ++next) {
            use_again(*next);
        }
    };
    for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] < context.now(); ++a) {
        use_all_before(all.alloc_event[a]);
        if (all.alloc_event[a] != before_history) {
            use(of_origin(all.origin[a]), all.alloc_event[a], context.device().alloc_time(a));
        }
    }
    use_all_before(context.now());
}

ModuleId ModuleUses::id_of(const std::string& path) {
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

ModuleId ModuleUses::of_origin(uint32_t origin) const {
    return origin < of_origin_.size() ? of_origin_[origin] : no_module;
}

bool ModuleUses::is_in(ModuleId id, ModuleId outer) const {
    while (id != no_module && id != outer) {
        id = modules_[id].parent;
    }
    return id == outer;
}

bool ModuleUses::is_idle(ModuleId id) const {
    const ModuleUse& module = modules_[id];
    if (module.last_used == never) {
        return false;
    }
    const size_t count = context_.iterations().size(), idle = iterations_since(module.last_used);
    const bool others_run = iterations_since(last_used_) * 4 <= idle;
    return others_run && idle >= fewest_idle && 2 * idle >= count &&
           context_.now_time() - module.last_time > longer * module.longest_pause;
}

/// A step whose details were deleted may have used every module that ran before.
void ModuleUses::use_all_again(const RepeatedSteps& deleted) {
    for (ModuleUse& module : modules_) {
        if (module.last_used != never) {
            module.last_used = deleted.after;
            module.last_time = deleted.end;
        }
    }
    last_used_ = deleted.after;
}

void ModuleUses::use_again(const RepeatedSteps& repeats) {
    if (!repeats.like) {
        use_all_again(repeats);
        return;
    }
    const auto [found, is_new] = of_step_.try_emplace(*repeats.like);
    if (is_new) {
        const Allocations& all = context_.device().allocations;
        const AllocationRange step = repeated_allocations(context_.trace(), context_.device(), repeats);
        for (AllocationIndex a = step.begin; a < step.end; ++a) {
            found->second.insert(of_origin(all.origin[a]));
        }
    }
    for (const ModuleId id : found->second) {
        use(id, repeats.after, repeats.end);
    }
}

void ModuleUses::use(ModuleId id, EventNumber event, int64_t time) {
    for_each_around(id, [&](ModuleId around) {
        ModuleUse& module = modules_[around];
        if (module.last_used != never) {
            module.longest_pause = std::max(module.longest_pause, time - module.last_time);
        }
        module.last_used = event;
        module.last_time = time;
    });
    last_used_ = id == no_module ? last_used_ : event;
}

size_t ModuleUses::iterations_since(EventNumber event) const {
    const Iterations& iterations = context_.iterations();
    const auto begun = static_cast<size_t>(iterations.at(event) + 1);  // one more than there are after the last
    return iterations.size() - std::min(begun, iterations.size());
}

}  // namespace tidemark
