// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growing tensors: a tensor that is made again in each iteration, larger each time, as by torch.cat. Only one of them
// is alive at a time, so no number of allocations shows the growth.
#pragma once

#include "storage/explain/iterations.h"
#include "storage/explain/surviving_allocations.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns whether the site's last tensor grew out of earlier ones of the site. Sizes alone do not prove that: the
/// inputs of later iterations may be larger. The proof is an op that joins tensors, or a tensor that was appended: the
/// sizes of the old one and of another add up to that of the new one, in most iterations. Thread: any.
bool is_growing_tensor(const Site& site, const Trace& trace, const DeviceHistory& device, const Iterations& iterations);

/// Returns how many growing tensors the site has now, at least 1. Those of earlier iterations are about to be replaced.
int64_t count_growing_tensors(const Site& site, const DeviceHistory& device, const Iterations& iterations);

}  // namespace tidemark
