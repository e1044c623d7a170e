// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/adapted_weights.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace tidemark {
namespace {

/// Returns the layer of an adapter: "layers.0.up_proj" for "layers.0.up_proj.lora_A.default.weight"; "" for others.
std::string adapted_layer(std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const size_t adapter = lower.find(".lora_");
    return adapter == std::string::npos ? std::string() : std::string(name.substr(0, adapter));
}

/// Returns whether the tensor belongs to one of these layers or to a part of it.
bool is_of(const std::set<std::string>& layers, std::string_view name) {
    for (size_t end = name.rfind('.'); end != std::string_view::npos && end > 0; end = name.rfind('.', end - 1)) {
        if (layers.contains(std::string(name.substr(0, end)))) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::vector<AllocationIndex> state_of_adapted_weights(const AnalysisContext& context,
                                                      const std::vector<AllocationIndex>& state) {
    if (!context.graph()) {
        return {};
    }
    const auto parameter_of = [&](AllocationIndex a) {
        return labeled_tensor(context.graph()->categories.name({context.device_position(), a}));
    };
    std::set<std::string> layers;
    for (const AllocationIndex a : state) {
        if (std::string layer = adapted_layer(parameter_of(a)); !layer.empty()) {
            layers.insert(std::move(layer));
        }
    }
    std::vector<AllocationIndex> weights;
    std::copy_if(state.begin(), state.end(), std::back_inserter(weights), [&](AllocationIndex a) {
        const std::string_view name = parameter_of(a);
        return adapted_layer(name).empty() && is_of(layers, name);
    });
    return weights;
}

}  // namespace tidemark
