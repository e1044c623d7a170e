// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory by stack as "folded" lines, which flamegraph.pl, inferno and speedscope read.
#pragma once

#include <span>

#include "storage/convert/take_bytes.h"
#include "storage/replay/active_walk.h"

namespace tidemark {

/// Writes "main.py:31 main;net.py:12 forward 1048576\n" for each stack, with the bytes of the blocks of these
/// allocations. Frames of the allocator and the interpreter are left out. `root`: the outermost frame; may be empty.
/// Returns the error of `take`.
Status write_folded_stacks(const Trace& trace, const DeviceHistory& device, std::span<const ActiveAllocation> active,
                           std::string_view root, const TakeBytes& take);

}  // namespace tidemark
