// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The span that PyTorch opens around each step() of an optimizer: "Optimizer.step#AdamW.step".
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "storage/trace/trace.h"

namespace tidemark {

constexpr std::string_view optimizer_step_prefix = "Optimizer.step#";

inline bool is_optimizer_step(const Annotation& span) { return span.name.starts_with(optimizer_step_prefix); }

/// Returns the optimizer's class. Requires is_optimizer_step().
inline std::string optimizer_class(const Annotation& span) {
    const std::string name = span.name.substr(optimizer_step_prefix.size());
    return name.substr(0, name.rfind(".step"));
}

/// Returns the names of the attributes in which the optimizers that stepped refer to their parameters: "state of Adam".
inline std::set<std::string, std::less<>> attributes_of_optimizers(const Trace& trace) {
    std::set<std::string, std::less<>> names;
    for (const Annotation& span : trace.annotations) {
        if (is_optimizer_step(span)) {
            names.insert("param_groups of " + optimizer_class(span));
            names.insert("state of " + optimizer_class(span));
        }
    }
    return names;
}

}  // namespace tidemark
