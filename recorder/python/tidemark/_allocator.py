# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks of PyTorch's allocator."""

import os
from typing import Any


def reports_events(torch: Any) -> bool:
    """Returns whether the native caching allocator is in use. cudaMallocAsync and pluggable allocators report no
    events; each of their allocations is a driver call. So are those without caching."""
    is_caching = os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") is None
    return is_caching and torch.cuda.memory.get_allocator_backend() == "native"
