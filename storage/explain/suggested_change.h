// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Changes of the program's source as unified diffs, and names in it, for fixes that change one line mechanically. Each
// function returns
// "" unless the recorded source has that line in exactly the form that it knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/explain/analysis_context.h"
#include "storage/explain/source_change.h"

namespace tidemark {

/// Changes `total += loss` or `total = total + loss`, the line of the stack, to `total += loss.item()`; `loss` is any
/// operand, also a call. `value`: the method that returns the value without its graph, "item()" or "detach()".
std::string add_value_diff(const Trace& trace, StackId stack, std::string_view value);

/// Changes the program's only `….backward(retain_graph=True)` to `….backward()`.
std::string release_graph_diff(const Trace& trace);

/// Changes the decorator of the program's only function of this name, `@functools.lru_cache` with any arguments, or
/// `@functools.cache`, so that its cache keeps `limit` results.
std::string limit_cache_diff(const Trace& trace, std::string_view function, int64_t limit);
/// Changes the program's only `module.requires_grad = False` to `module.requires_grad_(False)`.
std::string freeze_diff(const Trace& trace);
/// Changes the only `queue.Queue()` in the line to `queue.Queue(maxsize=4)`.
std::string limit_queue_diff(const Trace& trace, const SourcePlace& place, int64_t limit);

/// Adds `map_location="cpu"` to the only `torch.load(path)` in the stack's line; "" if it has another `map_location`.
std::string load_on_host_diff(const Trace& trace, StackId stack);

/// Detaches `state` before the stack's line `state = f(x, state)`, so that each backward pass ends there. Returns "" if
/// another line may give the variable a value that is no tensor: only one other line may, `state = torch.zeros(4)`.
std::string detach_before_diff(const Trace& trace, StackId stack, std::string_view variable);

/// Returns the program's only `….backward(create_graph=True)`.
std::optional<SourcePlace> backward_with_graph(const Trace& trace);
/// Clears the gradients at the end of the function with that line, which has `[p.grad for p in parameters]`.
std::string clear_gradients_diff(const Trace& trace);

/// Clears the name of the program's only nested function `walk` when the function around it returns its result: changes
/// `return walk(0)` to three lines.
std::string clear_function_diff(const Trace& trace, std::string_view function);

/// Puts `output = model(batch)` or `outputs.append(model(batch))`, the line of the stack that calls the outermost
/// module, into a block of `manager`: "torch.no_grad()". Returns "" as well if backward executed any node of that line.
/// Requires a graph.
std::string disable_gradients_diff(const AnalysisContext& context, StackId stack, std::string_view manager);

/// Returns what gets the result of the stack's line, "self.state" of `self.state = f(x)` and of
/// `self.state.add_(x)`; also if
/// the statement began a few lines before with an opening bracket. Returns "" for code of another form.
std::string assigned_variable(const Trace& trace, StackId stack);

}  // namespace tidemark
