// Every diagnosis, one file each.
#pragma once

#include "storage/explain/diagnoses.h"

namespace tidemark {

#define TIDEMARK_DIAGNOSIS(name) void name(const Case& of, const Words& words, Findings& findings, Progress& progress)
// What grows in the allocator: see growth/.
TIDEMARK_DIAGNOSIS(diagnose_growth);
// The allocator.
TIDEMARK_DIAGNOSIS(diagnose_out_of_memory);
TIDEMARK_DIAGNOSIS(diagnose_empty_cache);
TIDEMARK_DIAGNOSIS(diagnose_cached_idle);
TIDEMARK_DIAGNOSIS(diagnose_reserved_follows_largest);
TIDEMARK_DIAGNOSIS(diagnose_block_reuse);
TIDEMARK_DIAGNOSIS(diagnose_private_pools);
TIDEMARK_DIAGNOSIS(diagnose_waits_for_stream);
// The device.
TIDEMARK_DIAGNOSIS(diagnose_context);
TIDEMARK_DIAGNOSIS(diagnose_stray_context);
TIDEMARK_DIAGNOSIS(diagnose_other_processes);
TIDEMARK_DIAGNOSIS(diagnose_library_growth);
TIDEMARK_DIAGNOSIS(diagnose_library_workspace);
TIDEMARK_DIAGNOSIS(diagnose_workspace_burst);
TIDEMARK_DIAGNOSIS(diagnose_collective_buffers);
TIDEMARK_DIAGNOSIS(diagnose_pinned_growth);
TIDEMARK_DIAGNOSIS(diagnose_recorder_itself);
// The program.
TIDEMARK_DIAGNOSIS(diagnose_optimizer_state);
TIDEMARK_DIAGNOSIS(diagnose_gradient_accumulation);
TIDEMARK_DIAGNOSIS(diagnose_gradients_in_forward);
TIDEMARK_DIAGNOSIS(diagnose_second_round_peak);
TIDEMARK_DIAGNOSIS(diagnose_longer_round);
TIDEMARK_DIAGNOSIS(diagnose_retained_gradients);
TIDEMARK_DIAGNOSIS(diagnose_previous_round_local);
TIDEMARK_DIAGNOSIS(diagnose_cycles_wait_for_gc);
TIDEMARK_DIAGNOSIS(diagnose_checkpoint_on_gpu);
TIDEMARK_DIAGNOSIS(diagnose_saved_twice);
TIDEMARK_DIAGNOSIS(diagnose_broadcast_materialised);
TIDEMARK_DIAGNOSIS(diagnose_released_graph);
TIDEMARK_DIAGNOSIS(diagnose_op_temporary);
TIDEMARK_DIAGNOSIS(diagnose_held_by_variables);
TIDEMARK_DIAGNOSIS(diagnose_evaluation_graph);
TIDEMARK_DIAGNOSIS(diagnose_bounded_cache);
TIDEMARK_DIAGNOSIS(diagnose_steady);
#undef TIDEMARK_DIAGNOSIS

}  // namespace tidemark
