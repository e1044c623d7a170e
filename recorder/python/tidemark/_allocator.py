# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks of PyTorch's allocator."""

from typing import Any


def raise_unless_native(torch: Any) -> None:
    """Raises OSError unless the native caching allocator is in use, because no other allocator reports its events."""
    backend = torch.cuda.memory.get_allocator_backend()
    if backend != "native":
        raise OSError(f"Tidemark records the native allocator only; the allocator in use ({backend}) reports no events")
