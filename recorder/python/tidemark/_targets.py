# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The objects with GPU memory whose retention paths a heap scan records. Tensors are one kind of them, arrays of other
libraries are another."""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import tidemark._abi as _abi
from tidemark import _heap
from tidemark._links import Link

MOST_TARGETS = 20_000


class Place(typing.NamedTuple):
    """An object's memory. node: id of the node that created the tensor, or 0. sequence: the device's events so far.
    device: _abi.NO_DEVICE if the memory is not on a GPU. bytes: of the tensor itself; 0: unknown."""

    node: int
    address: int
    sequence: int
    device: int
    storage_bytes: int = 0
    bytes: int = 0


NO_PLACE = Place(0, 0, 0, _abi.NO_DEVICE)


class Pooled(typing.NamedTuple):
    """An array in a pool whose parts are no allocations. The rest: where the program made it."""

    bytes: int
    function: str = ""
    file: str = ""
    line: int = 0


class Target(typing.NamedTuple):
    """Memory to which the path of an object leads, over `links` from the object on. pooled: the memory has no place of
    its own."""

    place: Place
    links: tuple[Link, ...] = ()
    pooled: Pooled | None = None


class Wanted(typing.NamedTuple):
    """What a scan looks for. blocks: addresses of the memory of allocation sites that grow. only_blocks: nothing
    else."""

    blocks: Collection[int]
    only_blocks: bool = False


class Choice:
    """The objects that a scan searches for, and what each of them is the path of. is_late: returns whether the time for
    the choice is over."""

    def __init__(self, is_late: Callable[[], bool]) -> None:
        self.objects: list[Any] = []
        self.targets: list[list[Target]] = []
        self.autograd_contexts: list[Any] = []
        self.is_cut = False  # whether objects were left out since the choice was full
        self._is_late = is_late

    def add(self, item: Any, targets: list[Target]) -> None:
        """Adds an object, unless it is the path of nothing."""
        if targets:
            self.objects.append(item)
            self.targets.append(targets)

    def is_full(self) -> bool:
        """Returns whether the scan can search for no more objects."""
        return len(self.objects) >= MOST_TARGETS or (bool(self.objects) and self._is_late())


class Kind(Protocol):
    """A kind of objects with GPU memory."""

    def classes(self) -> tuple[type, ...]:
        """Returns the classes whose objects choose() needs."""

    def choose(self, listed: list[list[Any]], wanted: Wanted, choice: Choice) -> None:
        """Adds those of the listed objects that are wanted to the choice. listed: one list per class, which it empties:
        the lists would be referrers themselves."""

    def targets_of(self, item: Any, blocks: Collection[int] | None) -> list[Target]:
        """Returns what the object is the path of, as far as its memory is among `blocks`. None: any memory."""


class Recognizable(Kind, Protocol):
    """A kind whose objects a search recognizes on its way, without a list of all objects."""

    def owners(self) -> list[Any]:
        """Returns objects that own many others of this kind. The path to an owner stands for theirs."""

    def with_memory(self, blocks: Sequence[int]) -> _heap.Recognized | None:
        """Returns how a search recognizes objects with this memory. None: it cannot."""

    def without_owner(self) -> _heap.Recognized | None:
        """Returns how a search recognizes objects that belong to no owner. None: it cannot."""
