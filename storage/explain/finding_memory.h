// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which allocations a finding is about.
#pragma once

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"

namespace tidemark {

/// Returns these allocations of the context's device as the memory of a finding. `state`: in which all are active.
FindingMemory memory_of(const AnalysisContext& context, std::vector<AllocationIndex> allocations, EventNumber state);

/// Makes a finding one about these tensors: their number, the memory, the component. Its bytes are set apart: they may
/// be a part of the tensors'.
void set_allocations(Finding& finding, const AnalysisContext& context, const std::vector<AllocationIndex>& allocations,
                     EventNumber state);

/// Returns the memory of a finding whose diagnosis has not said it: the allocations of its stacks, in the state in
/// which they are closest to its bytes (the context's time point, or that of its evidence), or else the allocations
/// that its evidence names. Empty if neither is about as large as the finding, or it is not about memory of PyTorch's
/// allocator.
FindingMemory find_memory(const AnalysisContext& context, const Finding& finding);

/// Returns the allocations whose bytes over time show the finding: its memory. Of a tensor that is made anew, larger
/// each time, also those that it replaced; of tensors that the program copies again and again, the earlier copies.
std::vector<AllocationIndex> memory_over_time(const DeviceHistory& device, const Finding& finding);

}  // namespace tidemark
