// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Attributes driver allocations to ops and stacks where PyTorch uses an allocator that reports no events
// (cudaMallocAsync, pluggable ones): every tensor is a driver allocation there.
#pragma once

namespace tidemark::plugin {

/// Sets the function by which core attributes driver allocations, or removes it.
void attribute_driver_allocations(bool attributes);

}  // namespace tidemark::plugin
