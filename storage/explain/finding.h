// What a diagnosis says about a trace: in words, with bytes, with evidence one click away, and with what would mend it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/breakdown/breakdown.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// What a person should make of it; most serious first, which is also the order in which findings are told.
enum class Severity : uint8_t {
    leak,        ///< memory goes up from round to round and does not come back
    failure,     ///< the run could not have the memory it asked for
    waste,       ///< does not grow, but more memory is taken than the work needs
    pattern,     ///< what the program's own doing looks like in memory: expected, explained
    background,  ///< every program has it
};
/// "leak", "failure", ...
std::string_view severity_word(Severity severity);

enum class FindingKind : uint8_t {
    // leaks
    retained_graph,           ///< graphs whose root somebody keeps, after backward(retain_graph=True)
    eval_without_no_grad,  ///< graphs no backward was ever meant for: no_grad is missing
    loss_accumulated_with_graph,              ///< total += loss: a chain through all rounds
    hidden_state_not_detached,            ///< hidden state or output of one round is an input of the next
    create_graph_cycle,           ///< backward(create_graph=True): .grad -> graph -> parameter
    hook_reference_cycle,               ///< a full backward hook closes a cycle
    hook_retains_activations,               ///< a forward hook stores activations
    ctx_retains_tensors,                ///< a custom Function keeps tensors as attributes of ctx
    growing_container,        ///< tensors pile up in a list, dict, attribute
    exception_retains_frames,          ///< an exception's traceback holds the frames of a failed round
    autocast_cache,           ///< copies of weights that autocast keeps until it ends
    cuda_graph_pools_grow,       ///< one more private pool, or a larger one, for each new shape
    non_pytorch_growth,            ///< a library takes more and more from the driver past the allocator
    pinned_memory_growth,             ///< page-locked host memory grows: not GPU memory
    unexplained_growth,       ///< grows, and nothing recorded says who keeps it
    // failures
    out_of_memory,  ///< autopsy of an OOM
    // waste
    fragmentation,           ///< free memory in holes too small to serve
    garbage_cycles,      ///< a sawtooth: reference cycles live until the garbage collector runs
    stale_local,    ///< a variable keeps last round's tensor while the next one is made
    retain_grad,      ///< retain_grad() on tensors that are no leaves
    gradients_not_cleared,    ///< gradients of the round before lie beside the activations
    checkpoint_on_gpu,       ///< torch.load put a second copy of the weights on the GPU
    saved_in_two_dtypes,             ///< the same values saved in two types
    pending_free,        ///< freed, but another stream may still use it
    empty_cache_thrash,  ///< what empty_cache() gives back is taken again at once
    broadcast_materialized,  ///< a broadcast result that holds every element many times
    workspace_burst,         ///< a very large workspace for the time of one op
    stray_context,           ///< a context on a device the program hardly uses
    profiler_overhead,         ///< a profiler or recorder takes memory
    // patterns
    optimizer_state,           ///< made at the first step, stays
    gradient_accumulation,     ///< gradients kept over several rounds on purpose
    second_iteration_peak,         ///< the second forward lies on top of the first's gradients
    reserved_high_water,  ///< reserved memory stays at what the largest round needed
    outlier_iteration,              ///< one round was larger than the others
    released_graph,            ///< nodes live on, but what they saved is gone: a second backward raises
    op_temporary,              ///< memory an op took for itself and gave back
    live_variables,         ///< so many tensors, held by so many names
    block_reuse,               ///< which cached block served which request, and why a new segment was taken
    bounded_cache,             ///< filled up, then stayed the same
    collective_buffers,        ///< NCCL
    steady,                    ///< nothing outlives its round
    // background
    cached_memory,        ///< freed memory the allocator keeps for later
    library_workspace,  ///< cuBLAS and others, once per handle and stream
    private_pools,      ///< what CUDA graphs keep reserved for themselves
    cuda_context,            ///< the CUDA context and kernels
    other_processes,    ///< somebody else on the same GPU
};
constexpr int finding_kind_count = static_cast<int>(FindingKind::other_processes) + 1;
/// Stable word for the command line, JSON and the pages of docs/FINDINGS.md: "retained-graph".
std::string_view finding_word(FindingKind kind);
std::optional<FindingKind> finding_from_word(std::string_view word);

/// How sure: `certain` was observed, `likely` is inferred from what was observed, `possible` is one of several
/// explanations.
enum class Confidence : uint8_t { certain, likely, possible };
std::string_view confidence_word(Confidence confidence);

/// Something to look at. What is set of the optional parts is what the window goes to.
struct Evidence {
    std::string text;                  ///< one sentence or phrase
    std::optional<EventNumber> event;  ///< a state of Finding::device
    std::optional<int64_t> time;       ///< ns since trace start; with `until` a stretch
    std::optional<int64_t> until;
    AllocationRef allocation;
    NodeIndex node = no_node;
    StackId stack = 0;
    std::optional<ComponentKind> component;
};

struct Fix {
    std::string text;                  ///< what to do: "Drop retain_graph=True."
    std::string code;                  ///< lines to copy; may be empty
    std::optional<int64_t> bytes;      ///< that it gives back, at the moment the finding is about
    std::optional<int64_t> per_iteration;  ///< that it gives back each round
};

/// Complete sentences, in the language that was asked for; bytes are block bytes unless a text says otherwise.
struct Finding {
    FindingKind kind = FindingKind::steady;
    Severity severity = Severity::pattern;
    Confidence confidence = Confidence::certain;
    std::string basis;  ///< what the confidence rests on
    int device = 0;     ///< PyTorch's index

    std::string title;              ///< one line: "60 graphs are kept alive by list `results`"
    std::vector<std::string> text;  ///< what happened, a sentence or short paragraph each

    int64_t bytes = 0;                 ///< now: at the moment the explanation is about
    std::optional<int64_t> per_iteration;  ///< bytes added by each round; nothing: does not grow
    int64_t count = 0;                 ///< allocations, graphs, calls, ...; 0: says nothing
    std::optional<int64_t> since;      ///< ns since trace start
    std::optional<int64_t> since_iteration;
    std::optional<ComponentKind> component;  ///< of the ledger, in which it lies
    StackId stack = 0;               ///< the user's line that made it
    std::string line;                ///< the same in words: "train.py:31 main"
    std::string referrer;              ///< "list `results` (variable of <module>, train.py:29), elements 0 to 59"

    std::vector<Evidence> evidence;     ///< in the order a person should look
    std::vector<Fix> fixes;             ///< either of them helps, best first
    std::vector<std::string> unknowns;  ///< what could not be known, and what recording would tell it
};

}  // namespace tidemark
