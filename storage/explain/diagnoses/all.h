// Every diagnosis, one file each.
#pragma once

#include "storage/explain/diagnoses.h"

namespace tidemark {

#define TIDEMARK_DIAGNOSIS(name) void name(const AnalysisContext& context, const Words& words, Findings& findings, Progress& progress)
// What grows in the allocator: see growth/.
TIDEMARK_DIAGNOSIS(diagnose_growth);
// The allocator.
TIDEMARK_DIAGNOSIS(diagnose_out_of_memory);
TIDEMARK_DIAGNOSIS(diagnose_empty_cache_thrash);
TIDEMARK_DIAGNOSIS(diagnose_cached_memory);
TIDEMARK_DIAGNOSIS(diagnose_reserved_high_water);
TIDEMARK_DIAGNOSIS(diagnose_block_reuse);
TIDEMARK_DIAGNOSIS(diagnose_private_pools);
TIDEMARK_DIAGNOSIS(diagnose_pending_free);
// The device.
TIDEMARK_DIAGNOSIS(diagnose_cuda_context);
TIDEMARK_DIAGNOSIS(diagnose_stray_context);
TIDEMARK_DIAGNOSIS(diagnose_other_processes);
TIDEMARK_DIAGNOSIS(diagnose_non_pytorch_growth);
TIDEMARK_DIAGNOSIS(diagnose_library_workspace);
TIDEMARK_DIAGNOSIS(diagnose_workspace_burst);
TIDEMARK_DIAGNOSIS(diagnose_collective_buffers);
TIDEMARK_DIAGNOSIS(diagnose_pinned_memory_growth);
TIDEMARK_DIAGNOSIS(diagnose_profiler_overhead);
// The program.
TIDEMARK_DIAGNOSIS(diagnose_optimizer_state);
TIDEMARK_DIAGNOSIS(diagnose_gradient_accumulation);
TIDEMARK_DIAGNOSIS(diagnose_gradients_not_cleared);
TIDEMARK_DIAGNOSIS(diagnose_second_iteration_peak);
TIDEMARK_DIAGNOSIS(diagnose_outlier_iteration);
TIDEMARK_DIAGNOSIS(diagnose_retain_grad);
TIDEMARK_DIAGNOSIS(diagnose_stale_local);
TIDEMARK_DIAGNOSIS(diagnose_garbage_cycles);
TIDEMARK_DIAGNOSIS(diagnose_checkpoint_on_gpu);
TIDEMARK_DIAGNOSIS(diagnose_saved_in_two_dtypes);
TIDEMARK_DIAGNOSIS(diagnose_broadcast_materialized);
TIDEMARK_DIAGNOSIS(diagnose_released_graph);
TIDEMARK_DIAGNOSIS(diagnose_op_temporary);
TIDEMARK_DIAGNOSIS(diagnose_live_variables);
TIDEMARK_DIAGNOSIS(diagnose_eval_without_no_grad);
TIDEMARK_DIAGNOSIS(diagnose_bounded_cache);
TIDEMARK_DIAGNOSIS(diagnose_steady);
#undef TIDEMARK_DIAGNOSIS

}  // namespace tidemark
