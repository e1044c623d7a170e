// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A finding: the result of a diagnosis for a trace, in words, with bytes, evidence and recommended fixes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/breakdown/breakdown.h"
#include "storage/explain/finding_kinds.h"
#include "storage/explain/iterations.h"
#include "storage/explain/rises.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// The severity of a finding. Findings are sorted in this order; but if an OOM ended the run, it comes first.
enum class Severity : uint8_t {
    leak,        ///< memory grows from iteration to iteration and is never freed
    failure,     ///< the run could not get the memory it requested
    waste,       ///< memory does not grow, but more is in use than the work needs
    pattern,     ///< expected and explained
    background,  ///< every program has it
};
/// Returns "leak", "failure", ...
std::string_view severity_word(Severity severity);

/// `certain` was observed, `likely` is inferred from observations, `possible` is one of several explanations.
enum class Confidence : uint8_t { certain, likely, possible };
std::string_view confidence_word(Confidence confidence);

/// A reference to a part of the trace. The window shows the optional parts that are set.
struct Evidence {
    std::string text;                  ///< one sentence or phrase
    std::optional<EventNumber> event;  ///< a state of Finding::device
    std::optional<int64_t> time;       ///< ns since trace start; with `until` a range
    std::optional<int64_t> until;
    AllocationRef allocation;
    NodeIndex node = no_node;
    StackId stack = 0;
    std::optional<ComponentKind> component;
};

struct Fix {
    std::string text;                      ///< the change: "Drop retain_graph=True."
    std::string code;                      ///< lines to copy; may be empty
    std::optional<int64_t> bytes;          ///< bytes that it frees at the context's time point
    std::optional<int64_t> per_iteration;  ///< bytes that it frees in each iteration
    /// The change of the program's source as a unified diff; empty unless the recorded source makes it certain.
    std::string diff = {};
    bool is_general = false;  ///< of any such growth: advice of a library may replace it
};

/// Allocations of Finding::device, all of which are active in one state of it.
struct FindingMemory {
    EventNumber event = 0;                     ///< that state
    std::vector<AllocationIndex> allocations;  ///< by age
    int64_t bytes = 0;                         ///< of their blocks
};

/// One step of a retention path, from a variable of the program down to the memory. Each step retains the next one.
struct RetentionStep {
    enum class Kind : uint8_t {
        reference,     ///< a variable, an attribute, an element
        node,          ///< an autograd node
        saved_tensor,  ///< that the node before it saved
        allocation,
        skipped,  ///< stands for several steps; has only a text
    };
    Kind kind = Kind::reference;
    std::string text;  ///< "global variable results", "AddmmBackward0 of net.0"
    /// Bytes that become free when the program drops what the step names; of a container, the bytes of the finding; of
    /// an allocation, those of its block.
    /// Nothing: unknown.
    std::optional<int64_t> bytes = {};
    NodeIndex node = no_node;       ///< of a node and of a saved tensor
    AllocationRef allocation = {};  ///< of an allocation
    std::string line = {};          ///< "train.py:31 main", where a node or an allocation was made; may be empty
};
/// Returns the bytes of the largest step; 0 if no step's are known.
int64_t largest_bytes(std::span<const RetentionStep> path);
/// Returns "reference", "node", ...
std::string_view retention_step_word(RetentionStep::Kind kind);

/// Texts are complete sentences in the requested language. Bytes are block bytes unless a text states otherwise.
struct Finding {
    FindingKind kind = FindingKind::steady;
    Severity severity = Severity::pattern;
    Confidence confidence = Confidence::certain;
    std::string basis;  ///< the observations behind the confidence
    int device = 0;     ///< PyTorch's index

    std::string title;              ///< one line: "60 autograd graphs, retained by list `results`"
    std::vector<std::string> text;  ///< a sentence or a short paragraph each

    int64_t bytes = 0;                     ///< at the context's time point
    std::optional<int64_t> per_iteration;  ///< bytes added by each iteration; nothing: does not grow
    double rate = 0;                       ///< per_iteration in bytes per second
    std::optional<Rises> rises;            ///< if it grows once in several iterations
    int64_t count = 0;                     ///< allocations, graphs, calls, ...; 0: does not apply
    std::optional<int64_t> since;          ///< ns since trace start
    std::optional<int64_t> since_iteration;
    IterationSource unit = IterationSource::none;  ///< of per_iteration and since_iteration
    bool has_ended = false;                        ///< whether the loop in which it grew ended before that time point
    bool ends_with_variable = false;               ///< a variable retains it that goes before the program ends
    std::optional<ComponentKind> component;        ///< of the memory breakdown
    StackId stack = 0;                             ///< the user's stack that allocated it
    std::vector<StackId> accounts_for;             ///< all stacks whose memory it explains, if there are several
    FindingMemory memory;                          ///< that the finding is about; empty: no allocations
    std::string line;                              ///< the same in words: "train.py:31 main"
    SourceExcerpt source;                          ///< that line of the program, if it was recorded
    std::vector<RetentionStep> path;               ///< to one of its allocations; empty: unknown
    std::string referrer;  ///< "list `results` (variable of <module>, train.py:29), elements 0 to 59"

    std::vector<Evidence> evidence;  ///< in the order in which to examine it
    /// Best first. Each is sufficient by itself; of a failure, the text says which are.
    std::vector<Fix> fixes;
    std::vector<std::string> unknowns;  ///< unknown facts, and the recording that would show them
};

/// Returns the node or the allocation of a step of the finding's path, in the state in which its memory exists.
Evidence evidence_of(const Finding& finding, const RetentionStep& step);

/// Returns the first finding of a kind; nullptr if there is none.
const Finding* find_finding(std::span<const Finding> findings, FindingKind kind);

/// Returns whether the finding is a leak of GPU memory; pinned host memory is not GPU memory.
bool is_gpu_leak(const Finding& finding);
/// Returns whether the finding is growth that is too slow to matter in any run.
bool is_slow_growth(const Finding& finding);

}  // namespace tidemark
