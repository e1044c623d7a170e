// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The memory of each GPU of a job, up to the figure of nvidia-smi.
#pragma once

#include <vector>

#include "storage/job/explain_job.h"

namespace tidemark {

/// Returns the GPUs that the job's processes use, by node and device. Processes share a GPU if its uuid is the same;
/// without uuids, if they number it alike on one node. Without a node, as in imported snapshots, the GPU is unknown.
/// Processes that had ended before another one on the GPU began are left out.
std::vector<GpuTotal> gpu_totals(const Job& job);

}  // namespace tidemark
