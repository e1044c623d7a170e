#include "storage/explain/diagnoses.h"

#include <array>

#include "storage/explain/diagnoses/all.h"

namespace tidemark {

std::span<const Diagnosis> all_diagnoses() {
    static constexpr std::array<Diagnosis, 34> list{
        diagnose_growth,
        diagnose_out_of_memory,
        diagnose_empty_cache_thrash,
        diagnose_cached_memory,
        diagnose_reserved_high_water,
        diagnose_block_reuse,
        diagnose_private_pools,
        diagnose_pending_free,
        diagnose_stray_context,
        diagnose_non_pytorch_growth,
        diagnose_library_workspace,
        diagnose_workspace_burst,
        diagnose_collective_buffers,
        diagnose_pinned_memory_growth,
        diagnose_profiler_overhead,
        diagnose_checkpoint_on_gpu,
        diagnose_optimizer_state,
        diagnose_gradient_accumulation,
        diagnose_gradients_not_cleared,
        diagnose_second_iteration_peak,
        diagnose_outlier_iteration,
        diagnose_retain_grad,
        diagnose_stale_local,
        diagnose_garbage_cycles,
        diagnose_saved_in_two_dtypes,
        diagnose_broadcast_materialized,
        diagnose_released_graph,
        diagnose_op_temporary,
        diagnose_live_variables,
        diagnose_eval_without_no_grad,
        diagnose_bounded_cache,
        // These ask whether anybody else had an answer: last.
        diagnose_steady,
        diagnose_other_processes,
        diagnose_cuda_context,
    };
    return list;
}

}  // namespace tidemark
