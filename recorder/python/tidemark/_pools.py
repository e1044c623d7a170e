# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Sums up arrays that lie in a library's own pool by what retains them, since the trace has no allocation of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from tidemark._links import Link
from tidemark._targets import Pooled

_MOST_CONTAINERS = 64  # of one scan
_ELEMENTS = ("item", "index", "element")


@dataclasses.dataclass
class _Container:
    """What retains some arrays. links: up to the element that was added last, as far as its index shows that."""

    links: list[Link]
    largest: Pooled
    count: int = 0
    bytes: int = 0


class Pools:
    """The arrays that one scan found."""

    def __init__(self) -> None:
        self._containers: dict[tuple[Link, ...], _Container] = {}

    def add(self, links: Sequence[Link], array: Pooled) -> None:
        """Adds an array. links: the path to it, up to whose first element all arrays count as one container's."""
        if links[0].kind in ("cycle", "native"):
            return
        end = next((i for i, link in enumerate(links) if link.kind in _ELEMENTS), len(links))
        path = list(links[: end + 1])
        container = self._containers.setdefault(tuple(links[:end]), _Container(path, array))
        container.count += 1
        container.bytes += array.bytes
        if array.bytes > container.largest.bytes:
            container.largest = array
        if _index(path) > _index(container.links):
            container.links = path

    def paths(self) -> Iterator[list[Link]]:
        """Yields the paths to the containers with most bytes. The last link has the number and the bytes of their
        arrays, and where the program made the largest one."""
        by_bytes = sorted(self._containers.values(), key=lambda container: -container.bytes)
        for container in by_bytes[:_MOST_CONTAINERS]:
            largest = container.largest
            sums = f"{container.count} of {container.bytes}"
            yield [*container.links, Link("arrays", sums, largest.function, largest.file, largest.line)]


def _index(links: Sequence[Link]) -> int:
    return int(links[-1].name) if links[-1].kind == "index" and links[-1].name.isdigit() else -1
