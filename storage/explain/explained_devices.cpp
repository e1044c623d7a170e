// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/explained_devices.h"

#include <algorithm>

#include "storage/explain/explain.h"

namespace tidemark {
namespace {

int precedence(const AnalysisContext& context) {
    return context.out_of_memory() != nullptr ? 0 : &context.device() == &context.trace().main_device() ? 1 : 2;
}

}  // namespace

Result<std::vector<Explained>> explain_devices(Contexts contexts, const Words& words, Progress& progress) {
    std::stable_sort(contexts.begin(), contexts.end(),
                     [](const auto& a, const auto& b) { return precedence(*a) < precedence(*b); });
    std::vector<Explained> devices;
    for (auto& context : contexts) {
        Explanation explanation = explain(*context, words, progress);
        if (progress.canceled) {
            return canceled_error();
        }
        devices.push_back({std::move(context), std::move(explanation)});
    }
    return devices;
}

}  // namespace tidemark
