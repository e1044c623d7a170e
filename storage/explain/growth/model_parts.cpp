// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/model_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "storage/base/units.h"
#include "storage/explain/grown_part.h"

namespace tidemark {
namespace {

/// Returns the class of the model in a name, "GPT" of "GPT.h.0.weight" and of "exp_avg of GPT.h.0.weight"; "" if the
/// tensor is known by its optimizer only: "param_groups[0][3]".
std::string model_in(std::string_view name) {
    name = labeled_tensor(name);
    const size_t end = name.find('.');
    return end == std::string_view::npos || name.starts_with("param_groups[") ? std::string()
                                                                              : std::string(name.substr(0, end));
}

void add(ModelParts& parts, Category category, int64_t bytes) {
    switch (category) {
        case Category::parameter:
        case Category::buffer:
            ++parts.parameters;
            parts.parameter_bytes += bytes;
            break;
        case Category::gradient: parts.gradient_bytes += bytes; break;
        case Category::optimizer_state: parts.state_bytes += bytes; break;
        default: break;
    }
}

/// The tensors of the models of one class.
struct TensorsOfModel {
    int64_t total = 0;
    std::unordered_map<std::string, int64_t> by_name;
};

using NamedTensors = std::map<std::string, TensorsOfModel>;

/// Sets the class that has most of the tensors: the layers of a model may have names of their own until they are
/// added to it.
void set_model(ModelParts& parts, const NamedTensors& named) {
    const auto most = std::max_element(named.begin(), named.end(),
                                       [](const auto& a, const auto& b) { return a.second.total < b.second.total; });
    if (most == named.end()) {
        return;
    }
    parts.model = most->first;
    for (const auto& [name, count] : most->second.by_name) {
        parts.same_name = std::max(parts.same_name, count);
    }
}

}  // namespace

std::string ModelParts::words_of_parts(int64_t all, const Words& words) const {
    std::vector<std::string> list;
    if (parameter_bytes > 0) {
        list.push_back(words("parameters {bytes}", with("bytes", format_bytes(parameter_bytes))));
    }
    if (gradient_bytes > 0) {
        list.push_back(words("gradients {bytes}", with("bytes", format_bytes(gradient_bytes))));
    }
    if (state_bytes > 0) {
        list.push_back(words("optimizer state {bytes}", with("bytes", format_bytes(state_bytes))));
    }
    if (const int64_t other = all - total(); other * 100 > all) {
        list.push_back(words("other tensors {bytes}", with("bytes", format_bytes(other))));
    }
    return words.list(list);
}

ModelParts model_parts_of(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Categories& categories = context.graph()->categories;
    const Allocations& allocations = context.device().allocations;
    ModelParts parts;
    NamedTensors named;
    for (const Site* site : suspect.sites) {
        std::vector<AllocationIndex> memory = site->now;
        std::erase_if(memory, [&](AllocationIndex a) {
            return !is_retained_outside_graph(categories.at({context.device_position(), a}, context.now_time()));
        });
        const GrownPart part = grown_part(*site, memory, *suspect.iterations, context.device(), suspect.since);
        for (const AllocationIndex a : memory) {
            if (allocations.alloc_event[a] < part.begin) {
                continue;
            }
            const AllocationRef allocation{context.device_position(), a};
            const Category category = categories.at(allocation, context.now_time());
            add(parts, category, std::llround(static_cast<double>(allocations.block_size[a]) * part.share));
            const std::string& name = categories.name(allocation);
            const std::string model = category == Category::gradient ? std::string() : model_in(name);
            if (!model.empty()) {
                TensorsOfModel& tensors = named[model];
                ++tensors.total;
                ++tensors.by_name[name];
            }
        }
    }
    set_model(parts, named);
    return parts;
}

}  // namespace tidemark
