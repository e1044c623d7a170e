// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The library through which a program allocates GPU memory. Its own pool and its own calls free that memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/finding.h"
#include "storage/text/words.h"
#include "storage/trace/trace.h"

namespace tidemark {

enum class GpuLibrary : uint8_t { none, pytorch, cupy, jax, numba };

/// Returns the library whose code is on a stack, or that called the driver for it. `none`: the program calls CUDA
/// itself, or another library does.
GpuLibrary gpu_library_of(const Trace& trace, StackId stack);

/// Returns whether PyTorch allocated any of the memory.
bool has_pytorch(const Trace& trace);

/// Returns the fixes of memory that `stack` allocates from the driver again and again, and that is not freed.
std::vector<Fix> fixes_of_driver_growth(GpuLibrary library, int64_t bytes, int64_t per_iteration, const Words& words);

/// Returns the code that copies a tensor or an array to host memory: "element.detach().cpu()"; "" of no known library.
std::string host_copy_of(GpuLibrary library, std::string_view expression);

/// Says that arrays are invisible in a block that JAX allocated at its start; empty if there is no such block.
/// `device`: with its total bytes.
std::string preallocation_note(const Trace& trace, const DeviceHistory& device, const Words& words);

/// Returns what the growth of a library's driver memory means; empty if the library keeps no pool.
std::string pool_note(GpuLibrary library, const Words& words);

}  // namespace tidemark
