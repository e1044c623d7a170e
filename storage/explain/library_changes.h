// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Changes of the program's lines that use a library, for the fixes that the library offers. Each function returns ""
// unless the recorded source shows one place for the change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/explain/source_change.h"

namespace tidemark {

/// Adds `self.metric.reset()` after its only compute(), before the loop of its updates, or before the inner one of two
/// loops that call the method with them. `metric`: the expression "self.metric".
std::string reset_metric_diff(const Trace& trace, std::string_view metric);
/// Returns what the program calls the only object of the class, "self.metric" of `self.metric = AveragePrecision(…)`;
/// "" if it is unknown.
std::string variable_of_class(const Trace& trace, std::string_view type);

/// Returns what the stack's line calls the metric that it computes, "self.auc" of `self.log("auc",
/// self.auc.compute())`;
/// "" if it computes none.
std::string computed_metric(const Trace& trace, StackId stack);

/// Adds a line at the end of the method of the class.
std::string append_to_method_diff(const Trace& trace, std::string_view owner, std::string_view method,
                                  std::string_view code);

/// Adds `model, optimizer = accelerator.free_memory(model, optimizer)`, with the names of the only prepare(), at the
/// end of the function that calls it. `accelerator`: an expression.
std::string free_memory_diff(const Trace& trace, std::string_view accelerator);

/// A line that adds an adapter to a model.
struct AddedAdapter {
    SourcePlace place;
    std::string_view name;   ///< of the adapter, in code: "user", "key"
    std::string_view model;  ///< in code: "self.model"
};
/// Returns what the stack's line in the program calls the adapter that it adds; nothing if it is unknown.
std::optional<AddedAdapter> added_adapter(const Trace& trace, StackId stack);
/// Adds `model.delete_adapter(old)` after the line of the same function that removes the name from where the function
/// stores it: `old, _ = self.resident.popitem(last=False)`.
std::string delete_adapter_diff(const Trace& trace, const AddedAdapter& added);

}  // namespace tidemark
