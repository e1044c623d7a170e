// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/copied_arguments.h"

#include <algorithm>
#include <map>

#include "storage/explain/composition.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t least_fraction = 20;  ///< 1 / 20 of the allocated memory

/// Returns whether the frame is HyperparametersMixin.save_hyperparameters of lightning or pytorch_lightning. All that
/// its callees allocate belongs to the copy.
bool is_copying(const StackTable& stacks, FrameId id) {
    const Frame& frame = stacks.frame(id);
    return stacks.role(id) == FrameRole::library &&
           stacks.string(frame.file).ends_with("/core/mixins/hparams_mixin.py") &&
           plain_name(stacks.string(frame.function)) == "save_hyperparameters";
}

/// Returns, by stack, the outermost stack that ends in save_hyperparameters(); 0 if there is none.
std::vector<StackId> copying_stacks(const StackTable& stacks) {
    std::vector<StackId> copying(stacks.stack_count());
    for (StackId id = 1; id < stacks.stack_count(); ++id) {
        const StackEntry& entry = stacks.stack(id);
        copying[id] = copying[entry.caller] == 0 && is_copying(stacks, entry.frame) ? id : copying[entry.caller];
    }
    return copying;
}

/// Returns the first parts of the names of its parameters and buffers, most bytes first.
std::vector<std::string> models_of(const AnalysisContext& context, const CopiedArguments& copied) {
    std::map<std::string, int64_t> bytes_of;
    for (const AllocationIndex a : copied.memory) {
        const std::string& name = context.graph()->categories.name({context.device_position(), a});
        if (!name.empty()) {
            bytes_of[name.substr(0, name.find('.'))] +=
                static_cast<int64_t>(context.device().allocations.block_size[a]);
        }
    }
    std::vector<std::string> models;
    models.reserve(bytes_of.size());
    for (const auto& [model, bytes] : bytes_of) {
        models.push_back(model);
    }
    std::stable_sort(models.begin(), models.end(),
                     [&](const std::string& a, const std::string& b) { return bytes_of[a] > bytes_of[b]; });
    return models;
}

}  // namespace

std::vector<CopiedArguments> find_copied_arguments(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const std::vector<StackId> copying = copying_stacks(context.trace().stacks);
    std::map<StackId, CopiedArguments> by_call;
    for (const AllocationIndex a : allocated_at(context, context.now())) {
        if (const StackId call = copying[allocations.stack[a]]; call != 0) {
            by_call[call].memory.push_back(a);
            by_call[call].bytes += static_cast<int64_t>(allocations.block_size[a]);
        }
    }
    const int64_t allocated = context.curves().value(Series::allocated, context.now());
    std::vector<CopiedArguments> found;
    for (auto& [call, copied] : by_call) {
        if (copied.bytes >= least_bytes && copied.bytes * least_fraction >= allocated) {
            copied.models = context.graph() ? models_of(context, copied) : std::vector<std::string>();
            found.push_back(std::move(copied));
        }
    }
    std::sort(found.begin(), found.end(),
              [](const CopiedArguments& a, const CopiedArguments& b) { return a.bytes > b.bytes; });
    return found;
}

}  // namespace tidemark
