// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes the history of a trace as a PyTorch memory snapshot, which pytorch.org/memory_viz and
// `python -m torch.cuda._memory_viz` open: the reverse of storage/import.
#pragma once

#include <span>

#include "storage/analysis/analysis.h"
#include "storage/convert/take_bytes.h"

namespace tidemark {

/// Writes a pickle with the events, the final segments, the annotations and steps, and the allocator's settings.
/// Requires at least one device; all are of one trace. Events without rows are missing: see DeviceHistory::repeats.
/// Returns the error of `take`.
Status write_pytorch_snapshot(std::span<const Analysis* const> devices, const TakeBytes& take);

}  // namespace tidemark
