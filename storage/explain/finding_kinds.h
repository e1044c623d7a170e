// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The list of all kinds of findings. Each line generates the identifier, the word, and the declaration of the
// descriptor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

// CLASSIFIER: a cause of a leak suspect, found by growth/NAME.cpp. Classifiers run in the order of this list; the first
// that recognizes the cause reports it. DIAGNOSIS: a separate finding, found by diagnoses/NAME.cpp. Diagnoses run phase
// by phase (see diagnoses.h). BOTH: the classifier reports it as a leak, and the diagnosis with another severity.
//
// A new finding needs a line here, its file, the translations of its sentences, and docs/findings/WORD.md. The script
// docs/make_pictures.py writes the index and draws the picture. Tests fail if one of them is missing.
#define TIDEMARK_FINDING_KINDS(CLASSIFIER, DIAGNOSIS, BOTH)                \
    CLASSIFIER(exception_retains_frames, "exception-retains-frames")       \
    CLASSIFIER(ctx_retains_tensors, "ctx-retains-tensors")                 \
    CLASSIFIER(hook_retains_activations, "hook-retains-activations")       \
    CLASSIFIER(create_graph_cycle, "create-graph-cycle")                   \
    CLASSIFIER(hook_reference_cycle, "hook-reference-cycle")               \
    CLASSIFIER(models_retained, "models-retained")                         \
    CLASSIFIER(optimizer_state_grows, "optimizer-state-grows")             \
    CLASSIFIER(parameters_grow, "parameters-grow")                         \
    CLASSIFIER(loss_accumulated_with_graph, "loss-accumulated-with-graph") \
    CLASSIFIER(hidden_state_not_detached, "hidden-state-not-detached")     \
    CLASSIFIER(retained_graph, "retained-graph")                           \
    BOTH(eval_without_no_grad, "eval-without-no-grad")                     \
    CLASSIFIER(unfinished_calls, "unfinished-calls")                       \
    CLASSIFIER(growing_tensor, "growing-tensor")                           \
    BOTH(garbage_cycles, "garbage-cycles")                                 \
    CLASSIFIER(generator_retains, "generator-retains")                     \
    CLASSIFIER(callback_retains, "callback-retains")                       \
    CLASSIFIER(queue_backlog, "queue-backlog")                             \
    BOTH(view_retains_storage, "view-retains-storage")                     \
    CLASSIFIER(growing_container, "growing-container")                     \
    CLASSIFIER(autocast_cache, "autocast-cache")                           \
    BOTH(unexplained_growth, "unexplained-growth")                         \
    DIAGNOSIS(cuda_graph_pools_grow, "cuda-graph-pools-grow")              \
    DIAGNOSIS(non_pytorch_growth, "non-pytorch-growth")                    \
    DIAGNOSIS(process_groups_grow, "process-groups-grow")                  \
    DIAGNOSIS(pinned_memory_growth, "pinned-memory-growth")                \
    DIAGNOSIS(out_of_memory, "out-of-memory")                              \
    DIAGNOSIS(fragmentation, "fragmentation")                              \
    DIAGNOSIS(stale_local, "stale-local")                                  \
    DIAGNOSIS(retain_grad, "retain-grad")                                  \
    DIAGNOSIS(retained_results, "retained-results")                        \
    DIAGNOSIS(gradients_not_cleared, "gradients-not-cleared")              \
    DIAGNOSIS(unsharded_parameters, "unsharded-parameters")                \
    DIAGNOSIS(checkpoint_on_gpu, "checkpoint-on-gpu")                      \
    DIAGNOSIS(unused_model, "unused-model")                                \
    DIAGNOSIS(saved_in_two_dtypes, "saved-in-two-dtypes")                  \
    DIAGNOSIS(pending_free, "pending-free")                                \
    DIAGNOSIS(empty_cache_thrash, "empty-cache-thrash")                    \
    DIAGNOSIS(allocation_retries, "allocation-retries")                    \
    DIAGNOSIS(broadcast_materialized, "broadcast-materialized")            \
    DIAGNOSIS(logits_of_all_positions, "logits-of-all-positions")          \
    DIAGNOSIS(workspace_burst, "workspace-burst")                          \
    DIAGNOSIS(stray_context, "stray-context")                              \
    DIAGNOSIS(profiler_overhead, "profiler-overhead")                      \
    DIAGNOSIS(optimizer_state, "optimizer-state")                          \
    DIAGNOSIS(gradient_accumulation, "gradient-accumulation")              \
    DIAGNOSIS(second_iteration_peak, "second-iteration-peak")              \
    DIAGNOSIS(reserved_high_water, "reserved-high-water")                  \
    DIAGNOSIS(late_memory, "late-memory")                                  \
    DIAGNOSIS(outlier_iteration, "outlier-iteration")                      \
    DIAGNOSIS(released_graph, "released-graph")                            \
    DIAGNOSIS(op_temporary, "op-temporary")                                \
    DIAGNOSIS(resident_data, "resident-data")                              \
    DIAGNOSIS(live_variables, "live-variables")                            \
    DIAGNOSIS(block_reuse, "block-reuse")                                  \
    DIAGNOSIS(bounded_cache, "bounded-cache")                              \
    DIAGNOSIS(collective_buffers, "collective-buffers")                    \
    DIAGNOSIS(steady, "steady")                                            \
    DIAGNOSIS(cached_memory, "cached-memory")                              \
    DIAGNOSIS(library_workspace, "library-workspace")                      \
    DIAGNOSIS(private_pools, "private-pools")                              \
    DIAGNOSIS(cuda_context, "cuda-context")                                \
    DIAGNOSIS(other_processes, "other-processes")

// An argument of TIDEMARK_FINDING_KINDS that omits kinds.
#define TIDEMARK_NO_KIND(name, word)

namespace tidemark {

#define TIDEMARK_KIND(name, word) name,
/// docs/findings/WORD.md describes each kind.
enum class FindingKind : uint8_t { TIDEMARK_FINDING_KINDS(TIDEMARK_KIND, TIDEMARK_KIND, TIDEMARK_KIND) };
#undef TIDEMARK_KIND

#define TIDEMARK_KIND(name, word) FindingKind::name,
constexpr int finding_kind_count = static_cast<int>(
    std::initializer_list<FindingKind>{TIDEMARK_FINDING_KINDS(TIDEMARK_KIND, TIDEMARK_KIND, TIDEMARK_KIND)}.size());
#undef TIDEMARK_KIND

/// Returns the stable word for the command line, JSON and the pages of docs/findings: "retained-graph".
std::string_view finding_word(FindingKind kind);
/// Returns nothing if no kind has this word.
std::optional<FindingKind> finding_from_word(std::string_view word);

}  // namespace tidemark
