#include "storage/explain/diagnoses.h"

#include <array>

#include "storage/explain/diagnoses/all.h"

namespace tidemark {

std::span<const Diagnosis> all_diagnoses() {
    static constexpr std::array<Diagnosis, 13> list{
        diagnose_growth,
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
        // These two ask whether anybody else had an answer: last.
        diagnose_other_processes,
        diagnose_context,
    };
    return list;
}

}  // namespace tidemark
