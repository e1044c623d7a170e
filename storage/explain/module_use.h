// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// When the program's modules ran, with all modules in them: a module ran when memory was allocated in it, or in a step
// that was repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

using ModuleId = uint32_t;
constexpr ModuleId no_module = 0;

/// A module, with all modules in it.
struct ModuleUse {
    std::string path;  ///< "Distillation.teacher", as in origins and labels
    ModuleId parent = no_module;
    EventNumber last_used = never;  ///< never: it has not run
    int64_t last_time = 0, longest_pause = 0;
};

class ModuleUses {
public:
    /// Visits the allocations before the context's time point once.
    explicit ModuleUses(const AnalysisContext& context);

    /// Adds the module if it has not run. Returns no_module for an empty path and for a damaged one.
    ModuleId id_of(const std::string& path);
    /// Returns the module in which an origin's memory was allocated.
    ModuleId of_origin(uint32_t origin) const;
    /// Returns all modules; the first one is none.
    const std::vector<ModuleUse>& all() const { return modules_; }
    /// Calls visit(ModuleId) for the module and all that contain it.
    template <class Visit>
    void for_each_around(ModuleId id, Visit&& visit) const {
        for (; id != no_module; id = modules_[id].parent) {
            visit(id);
        }
    }
    bool is_in(ModuleId id, ModuleId outer) const;

    /// Returns whether it ran, but neither in half of the iterations, nor in ten, nor for three times as long as ever
    /// before, while others did.
    bool is_idle(ModuleId id) const;
    /// Returns the iterations since it ran, up to the context's time point.
    size_t idle_iterations(ModuleId id) const { return iterations_since(modules_[id].last_used); }

private:
    void use_again(const RepeatedSteps& repeats);
    void use_all_again(const RepeatedSteps& deleted);
    void use(ModuleId id, EventNumber event, int64_t time);
    size_t iterations_since(EventNumber event) const;

    const AnalysisContext& context_;
    std::vector<ModuleUse> modules_{1};
    std::unordered_map<std::string, ModuleId> ids_;
    std::vector<ModuleId> of_origin_;
    std::unordered_map<int64_t, std::set<ModuleId>> of_step_;  ///< by its end, of repeated steps
    EventNumber last_used_ = 0;                                ///< by any module
};

}  // namespace tidemark
