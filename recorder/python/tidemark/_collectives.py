# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Hooks into torch.distributed: the rank of this process, and calls from which all ranks return at the same moment."""

from __future__ import annotations

import functools
from typing import Any, Callable, Protocol

# Functions that wait for all ranks on the CPU. Other collectives return before the GPU has run them.
_WAITING = ("init_process_group", "barrier", "monitored_barrier", "all_gather_object")
# In all ranks the same calls are reported: the first ones, then some, because a program may call one in every step.
_FIRST_CALLS = 64
_EVERY = 64


class RanksListener(Protocol):
    """Receives the reports, on the thread that calls torch.distributed."""

    def joined_ranks(self, rank: int, ranks: int) -> None:
        """Handles that this process is one of so many ranks."""

    def begins_to_wait_for_ranks(self, name: str) -> None:
        """Handles that a call waits for all ranks from now on. name: such as "barrier 3"."""

    def all_ranks_came(self) -> None:
        """Handles that the innermost of such calls returns."""


def install(torch: Any, listener: Callable[[], RanksListener | None]) -> None:
    """Installs the hooks, if torch was built with torch.distributed. listener: returns who gets the reports now."""
    if not torch.distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    for name in _WAITING:
        call = getattr(distributed_c10d, name, None)
        if call is not None:
            reporting = _reporting(call, name, distributed_c10d, listener)
            setattr(distributed_c10d, name, reporting)
            if getattr(torch.distributed, name, None) is call:
                setattr(torch.distributed, name, reporting)


def _reporting(call: Any, name: str, c10d: Any, listener: Callable[[], RanksListener | None]) -> Any:
    """Returns a function that calls `call` and reports that it returned."""
    calls = 0

    @functools.wraps(call)
    def call_and_report(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        if not _waits_for_all(args, kwargs, c10d):
            return call(*args, **kwargs)
        number, calls = calls, calls + 1
        target = listener() if number < _FIRST_CALLS or number % _EVERY == 0 else None
        if target is None:
            return call(*args, **kwargs)
        target.begins_to_wait_for_ranks(f"{name} {number}")
        try:
            return call(*args, **kwargs)
        finally:
            target.all_ranks_came()
            if name == "init_process_group" and c10d.is_initialized():
                target.joined_ranks(c10d.get_rank(), c10d.get_world_size())

    return call_and_report


def _waits_for_all(args: tuple[Any, ...], kwargs: dict[str, Any], c10d: Any) -> bool:
    """Returns whether the call concerns all ranks, and not a group of some."""
    world = c10d.GroupMember.WORLD
    groups = [kwargs.get("group"), *args]
    return not kwargs.get("async_op") and not any(isinstance(g, c10d.ProcessGroup) and g is not world for g in groups)
