// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Phrases, evidence and links that findings share.
#pragma once

#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the user's own line without folders, "train.py:42 forward"; "" if there is no stack.
std::string line_of(const Trace& trace, StackId stack);
/// Returns that line with two lines before and after; empty if it was not recorded.
SourceExcerpt source_of(const Trace& trace, StackId stack);
/// Returns a sentence with the user's line that called the phase of the run in which the stack allocated: where the
/// stack and that of the newest allocation part. "" unless these are two lines of one function of the program.
std::string phase_words(const AnalysisContext& context, StackId stack, const Words& words);
/// Returns the operation, module and phase of an allocation's origin, "aten::mul (module `net.0`, forward)"; "" if none
/// is known.
std::string doing_of(const Trace& trace, const Words& words, uint32_t origin);
/// Returns "12 tensors", or "12 allocations" of a program without PyTorch: a library's pool may put several arrays into
/// one.
std::string objects_words(const AnalysisContext& context, int64_t count, const Words& words);
/// Returns "step 12" or "iteration 12".
std::string iteration_name(const Iterations& iterations, const Words& words, int64_t position);
/// Returns "step" or "iteration".
std::string iteration_words(IterationSource unit, const Words& words);
/// Returns "12 steps" or "12 iterations".
std::string iterations_words(IterationSource unit, int64_t count, const Words& words);
/// Returns "per step" or "per iteration".
std::string each_iteration(IterationSource unit, const Words& words);
/// Capitalizes a title, which otherwise follows "First: " in the summary. Code and names (cuBLAS) keep their case.
std::string capitalized(std::string text);
/// Says when the memory grows, if not in every iteration. Requires `per_iteration` if there are rises.
void add_rises(Finding& finding, const std::optional<Rises>& rises, IterationSource unit, const Words& words);
/// What the context's time point is.
enum class ExplainedTime : uint8_t {
    peak,
    end_of_snapshot,
    event,
    out_of_memory,
    end_of_iteration,
    end_of_work,
    end_of_run
};
ExplainedTime explained_time(const AnalysisContext& context);
/// Returns the context's time point: "the end of step 59", "the out-of-memory error", "the end of the work".
std::string time_point_name(const AnalysisContext& context, const Words& words);

/// Returns evidence for a state of the device, with the caller's text.
Evidence at_event(const AnalysisContext& context, std::string text, EventNumber event);
Evidence at_iteration(const AnalysisContext& context, const Iterations& iterations, std::string text, int64_t position);
/// Returns evidence for the state right after the allocation.
Evidence at_allocation(const AnalysisContext& context, std::string text, AllocationIndex allocation);
Evidence at_node(const AnalysisContext& context, std::string text, NodeIndex node);
Evidence at_component(const AnalysisContext& context, std::string text, ComponentKind component);

/// Sets `stack` and `line`.
void set_line(Finding& finding, const AnalysisContext& context, StackId stack);
/// Sets `since` and `since_iteration` from a position in Iterations.
void set_since(Finding& finding, const Iterations& iterations, size_t position);

}  // namespace tidemark
