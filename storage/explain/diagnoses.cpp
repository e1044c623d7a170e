#include "storage/explain/diagnoses.h"

#include <array>

#include "storage/explain/diagnoses/all.h"

namespace tidemark {

std::span<const Diagnosis> all_diagnoses() {
    static constexpr std::array<Diagnosis, 34> list{
        diagnose_growth,
        diagnose_out_of_memory,
        diagnose_empty_cache,
        diagnose_cached_idle,
        diagnose_reserved_follows_largest,
        diagnose_block_reuse,
        diagnose_private_pools,
        diagnose_waits_for_stream,
        diagnose_stray_context,
        diagnose_library_growth,
        diagnose_library_workspace,
        diagnose_workspace_burst,
        diagnose_collective_buffers,
        diagnose_pinned_growth,
        diagnose_recorder_itself,
        diagnose_checkpoint_on_gpu,
        diagnose_optimizer_state,
        diagnose_gradient_accumulation,
        diagnose_gradients_in_forward,
        diagnose_second_round_peak,
        diagnose_longer_round,
        diagnose_retained_gradients,
        diagnose_previous_round_local,
        diagnose_cycles_wait_for_gc,
        diagnose_saved_twice,
        diagnose_broadcast_materialised,
        diagnose_released_graph,
        diagnose_op_temporary,
        diagnose_held_by_variables,
        diagnose_evaluation_graph,
        diagnose_bounded_cache,
        // These ask whether anybody else had an answer: last.
        diagnose_steady,
        diagnose_other_processes,
        diagnose_context,
    };
    return list;
}

}  // namespace tidemark
