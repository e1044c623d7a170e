# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what retains objects with GPU memory: scans the Python heap for retention paths and sends them.

The thread that scans continues when all paths are sent. A scan that nobody asked for has limits: it stops to search
after a while, and sends the paths that it has found.
"""

from __future__ import annotations

import functools
import threading
import time
import typing
from collections.abc import Collection, Iterator, Sequence
from contextvars import Context
from types import TracebackType
from typing import Any

from tidemark import _heap, _introspect, _links, _paths, _records, _roots
from tidemark._core import Core
from tidemark._parts import Limits, Parts, whole_parts
from tidemark._pools import Pools
from tidemark._targets import MOST_TARGETS, NO_PLACE, Choice, Kind, Recognizable, Target, Wanted

_LONGEST_WALK_S = 0.004  # of a part that lists objects
_VIEW_MATTERS = 2  # a view is worth a link if its storage is larger by this factor

_Links = typing.Optional[list[_links.Link]]


class Roots(typing.NamedTuple):
    """What a search begins at, beside the roots of every program.

    autograd_contexts: those of autograd functions, which only C++ refers to. contexts: those of context variables.
    traceback, thread: see _roots.nearest()."""

    autograd_contexts: Sequence[Any] = ()
    traceback: TracebackType | None = None
    contexts: Sequence[Context] = ()
    thread: int | None = None


_NO_MORE_ROOTS = Roots()


class Found(typing.NamedTuple):
    """links: to each target; None: no Python object refers to it, or, unless is_complete, the search was stopped before
    it found one. objects: number of those that were visited."""

    links: list[_Links]
    objects: int
    is_complete: bool


def find(
    heap: _heap.Heap,
    targets: list[Any],
    given: Roots = _NO_MORE_ROOTS,
    parts: Parts | None = None,
) -> Found:
    """Searches for the targets. A search with limits is never complete as long as a target has no path.

    Empties the list `targets` as soon as the search knows their addresses, so that the list is not a referrer
    itself."""
    count, modules = len(targets), _roots.namespaces()
    with heap.search(targets, _roots.barriers(modules)) as search:
        targets.clear()
        parts = parts or Parts()
        roots, is_complete = _search_all(heap, search, modules, given, parts)
        places = _links.Places(heap)
        named: list[_Links] = [None] * count
        for number in range(count):
            path = search.path_to(number)
            named[number] = path and _paths.links(places, path, roots)
            del path  # the program runs
            if not parts.next_if_long():
                return Found(named, search.objects(), False)
        return Found(named, search.objects(), is_complete)


def _search_all(
    heap: _heap.Heap, search: _heap.Search, modules: _roots.Namespaces, given: Roots, parts: Parts
) -> tuple[list[_roots.Root], bool]:
    """Searches from the roots with the best names first, until all targets have a path. Returns the roots used, and
    whether the search is complete."""
    roots: list[_roots.Root] = []
    of_objects = _roots.of_objects(given.autograd_contexts, given.contexts)
    stages = (
        lambda: _roots.nearest(modules, given.traceback, given.thread),
        lambda: of_objects + _roots.of_loops(heap),
        lambda: _roots.furthest(modules),
    )
    for stage in stages:
        found = stage()
        search_for = functools.partial(search.search_from, [root.for_search() for root in found])
        # What the program's own variables retain must be whole; what further roots retain matters less.
        missing = search_for(parts.left()) if roots else parts.search(search_for)
        if missing and not roots and not parts.are_limited:
            parts.next()
            missing = search.drop_unreferenced()
        roots += found
        if not missing:
            return roots, True
        if not parts.next_if_long():
            return roots, False
    if not parts.are_limited:
        search.search_unreachable()
    return roots, not parts.are_limited


class _Paths:
    """The paths of a search as it finds them."""

    def __init__(self, heap: _heap.Heap, search: _heap.Search) -> None:
        self._search = search
        self._places = _links.Places(heap)
        self._roots: list[_roots.Root] = []
        self._known: set[int] = set()  # numbers

    def found(self, roots: list[_roots.Root], parts: Parts) -> Iterator[tuple[int, _heap.Path]]:
        """Yields (number of the target, path) of those found since the last call, as far as there is time. roots: from
        which the search has searched since then."""
        self._roots += roots
        for number in range(self._search.targets()):
            path = None if number in self._known else self._search.path_to(number)
            if path is not None:
                self._known.add(number)
                yield number, path
            del path  # the program runs
            if not parts.next_if_long():
                return

    def links(self, path: _heap.Path) -> list[_links.Link]:
        """Returns the links of a path."""
        return _paths.links(self._places, path, self._roots)


class Referrers:
    """Scans the heap for one recording. Not thread-safe. Requires that Python begins no garbage collection meanwhile.

    kinds: of the targets. tensors: of these, the kind that a search can recognize on its way; None: not among them."""

    def __init__(
        self, core: Core, heap: _heap.Heap, kinds: Sequence[Kind], tensors: Recognizable | None = None
    ) -> None:
        self._core = core
        self._heap = heap
        self._kinds = kinds
        self._tensors = tensors

    def scan(self, reason: str, traceback: TracebackType | None = None, limits: Limits | None = None) -> None:
        """Records the retention path of each target; with limits, those of owners and of the nearest targets that
        belong to none, as far as the search can recognize them.

        traceback: of an exception; the variables of its frames are roots, too."""
        # An error follows from what this thread did; any thread may scan for another reason.
        thread = threading.get_ident() if reason == "out of memory" else None
        given = Roots((), traceback, (), thread)
        with whole_parts(limits, self._heap.runnable_ns) as parts:
            recognized = self._tensors.without_owner() if self._tensors and parts.are_limited else None
            if self._tensors and recognized:
                self._search(reason, self._tensors.owners(), recognized, given, parts)
            else:
                self._scan_all(reason, Wanted(set(self._core.growing_blocks())), given, parts)

    def scan_growing(self, reason: str, limits: Limits) -> bool:
        """Records the retention paths of the memory of growing allocation sites, and of what is nearer: owners, and
        tensors whose graph may retain the memory. Returns False if scan_all_growing() may find more: a part of it has
        no path of its own yet, since the time was too short, or since nothing that is reachable retains it."""
        if self._tensors is None:
            self.scan_all_growing(reason, limits)
            return True
        blocks = self._core.growing_blocks()
        with whole_parts(limits, self._heap.runnable_ns) as parts:
            recognized = self._tensors.with_memory(blocks) if blocks else None
            if recognized is None:
                self._send(reason, parts, 0, len(blocks), [])  # the recorder waits for the answer
                return not blocks
            found = self._search(reason, self._tensors.owners(), recognized, _NO_MORE_ROOTS, parts)
        return 2 * len({target.place.address for target in found} & set(blocks)) >= len(blocks)

    def _search(
        self, reason: str, owners: list[Any], recognized: _heap.Recognized, given: Roots, parts: Parts
    ) -> list[Target]:
        """Searches for owners, which it removes from the list, and for what it recognizes on its way. Returns what it
        has found."""
        modules, count = _roots.namespaces(), len(owners)
        others = [each for kind in self._kinds if kind is not self._tensors for each in kind.classes()]
        recognized, blocks = recognized._replace(types=others), set(recognized.blocks) or None
        stages = (
            lambda: _roots.nearest(modules, given.traceback, given.thread),
            lambda: _roots.of_loops(self._heap) + _roots.furthest(modules),
        )
        found: list[tuple[Target, _Links]] = []
        with self._heap.search(owners, _roots.barriers(modules), recognized) as search:
            owners.clear()
            paths = _Paths(self._heap, search)
            for stage in stages:
                roots = stage()
                if not parts.next_if_long():
                    break
                missing = search.search_from([root.for_search() for root in roots], parts.left())
                # Before the search continues: what is near is worth most.
                for number, path in paths.found(roots, parts):
                    if targets := self._targets_of(path.objects[-1], None if number < count else blocks):
                        links = paths.links(path)
                        found += [(target, links) for target in targets]
                    del path  # the program runs
                if not missing:
                    break
            self._send(reason, parts, search.objects(), len(recognized.blocks) or search.targets(), found)
        return [target for target, _ in found]

    def _targets_of(self, item: Any, blocks: Collection[int] | None) -> list[Target]:
        kind = next(kind for kind in self._kinds if _introspect.is_a(item, kind.classes()))
        return kind.targets_of(item, blocks)

    def scan_all_growing(self, reason: str, limits: Limits | None) -> None:
        """Works as scan_growing(), but lists all objects, and so finds targets of all kinds, and all tensors whose
        graph may retain the memory; without limits also memory that only C or a reference cycle retains."""
        with whole_parts(limits, self._heap.runnable_ns) as parts:
            self._scan_all(reason, Wanted(set(self._core.growing_blocks()), True), _NO_MORE_ROOTS, parts)

    def _scan_all(self, reason: str, wanted: Wanted, given: Roots, parts: Parts) -> None:
        choice = Choice(parts.is_over)
        # No pause from here to the search: a target that the program replaces meanwhile would live longer, without
        # a referrer.
        contexts = self._choose(wanted, choice, parts)
        given = given._replace(autograd_contexts=choice.autograd_contexts, contexts=contexts)
        result = find(self._heap, choice.objects, given, parts)
        found = [
            (target, links)
            for of_object, links in zip(choice.targets, result.links)
            for target in of_object
            if links is not None or result.is_complete
        ]
        if choice.is_cut or parts.is_cut:
            # The sums of a part of the arrays would rise and fall with the time that the scan had.
            found = [(target, links) for target, links in found if target.pooled is None]
        self._send(reason, parts, result.objects, len(result.links), found)
        if len(result.links) == MOST_TARGETS:
            self._core.push(_records.data_gap("referrers_failed", f"a scan follows at most {MOST_TARGETS} tensors"))

    def _choose(self, wanted: Wanted, choice: Choice, parts: Parts) -> list[Context]:
        """Chooses the targets. Returns the contexts of context variables."""
        classes = [kind.classes() for kind in self._kinds]
        contexts, *listed = self._objects((Context, *(one for of_kind in classes for one in of_kind)), parts)
        for kind, of_kind in zip(self._kinds, classes):
            kind.choose(listed[: len(of_kind)], wanted, choice)
            del listed[: len(of_kind)]
        return contexts

    def _objects(self, classes: Sequence[type], parts: Parts) -> list[list[Any]]:
        """Returns the objects of each class."""
        if not parts.are_limited:
            return self._heap.instances(*classes)
        return self._heap.instances_in_parts(*classes, longest_s=_LONGEST_WALK_S, between=parts.next)

    def _send(self, reason: str, parts: Parts, visited: int, targets: int, found: list[tuple[Target, _Links]]) -> None:
        duration = time.perf_counter_ns() - parts.began
        longest = 0 if reason == "end" else parts.longest()  # the program has ended: nothing waits
        self._core.push(_records.heap_scan(reason, duration, longest, visited, targets))
        pools = Pools()
        for target, links in found:
            if target.pooled is not None:
                pools.add(links or [_links.Link("native", "")], target.pooled)
            # A tensor that only C++ retains is worth a record only if it belongs to the graph.
            elif links or target.place.node != 0:
                own = [*(links or [_links.Link("native", "")]), *_last_links(target)]
                self._core.push(_records.referrer(target.place[:4], own))
        for path in pools.paths():
            self._core.push(_records.referrer(NO_PLACE[:4], path))


def _last_links(target: Target) -> Iterator[_links.Link]:
    yield from target.links
    if 0 < target.place.bytes * _VIEW_MATTERS <= target.place.storage_bytes:
        yield _links.Link("view", f"{target.place.bytes} of {target.place.storage_bytes}")
