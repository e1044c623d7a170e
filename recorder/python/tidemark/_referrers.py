# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what retains tensors: scans the Python heap for retention paths and sends them.

A scan holds the interpreter lock, so all Python threads wait for one part of it, or for _LONGEST_WAIT_S. The calling
thread continues when all paths are sent. A scan that nobody asked for has limits: it stops to search after a while, and
sends the paths that it has found.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import sys
import threading
import time
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import Context
from types import TracebackType
from typing import Any

import tidemark._abi as _abi
from tidemark import _heap, _labels, _links, _modules, _paths, _records, _roots
from tidemark._core import Core
from tidemark._plugin import Place, Plugin

MOST_TENSORS = 20_000
_SHORTEST_SEARCH_S = 0.005
_SHARE_OF_SEARCH = 0.6  # of the time that is left: what a search has found needs names
_LONGEST_WALK_S = 0.004  # of a part that lists objects
_LONGEST_NAMING_S = 0.025  # of a part that searches and names paths, whose objects live until all paths have names
_LONGEST_WAIT_S = 0.05  # of another thread for a part
_VIEW_MATTERS = 2  # a view is worth a link if its storage is larger by this factor

_Links = typing.Optional[list[_links.Link]]


class Limits(typing.NamedTuple):
    """The time that a scan may take, in s: a part of it, and the processor time of all parts."""

    part_s: float
    total_s: float


class _Parts:
    """The parts of a scan, between which other threads run. limits: None if the scan must be complete."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.began = self._part_began = time.perf_counter_ns()
        self._cpu_began = time.thread_time()
        self._longest = 0
        self._limits = limits

    @property
    def are_limited(self) -> bool:
        return self._limits is not None

    def next(self) -> bool:
        """Ends a part, and lets other threads run. Returns whether there is time for another part."""
        self._longest = self.longest()
        time.sleep(0)  # releases the interpreter lock
        self._part_began = time.perf_counter_ns()
        return self._left_in_total() > 0

    def next_if_long(self) -> bool:
        """Ends a part that has taken long. Returns whether there is time for more. While a part lasts, the program
        drops nothing that the scan retains, so small scans delay none of its frees."""
        return self._left_in_total() > 0 if self._passed_s() < _LONGEST_NAMING_S else self.next()

    def left(self) -> float:
        """Returns the time in s for a search in this part; 0: unlimited."""
        if self._limits is None:
            return 0.0
        longest_s = min(self._limits.part_s - self._passed_s(), _SHARE_OF_SEARCH * self._left_in_total())
        return max(longest_s, _SHORTEST_SEARCH_S)

    def is_over(self) -> bool:
        """Returns whether this part has taken its time."""
        return self._limits is not None and self._passed_s() > self._limits.part_s

    def longest(self) -> int:
        """Returns the duration of the longest part so far, in ns."""
        return max(self._longest, time.perf_counter_ns() - self._part_began)

    def _passed_s(self) -> float:
        return (time.perf_counter_ns() - self._part_began) / 1e9

    def _left_in_total(self) -> float:
        return math.inf if self._limits is None else self._limits.total_s - (time.thread_time() - self._cpu_began)


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
    parts: _Parts | None = None,
) -> Found:
    """Searches for the targets. A search with limits is never complete as long as a target has no path.

    Empties the list `targets` as soon as the search knows their addresses, so that the list is not a referrer
    itself."""
    count, modules = len(targets), _roots.namespaces()
    with heap.search(targets, _roots.barriers(modules)) as search:
        targets.clear()
        parts = parts or _Parts()
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
    heap: _heap.Heap, search: _heap.Search, modules: _roots.Namespaces, given: Roots, parts: _Parts
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
        missing = search.search_from([root.for_search() for root in found], parts.left())
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


class _Target(typing.NamedTuple):
    """Memory whose path is that of a tensor. is_gradient: it belongs to the tensor's .grad, which C++ retains."""

    place: Place
    is_gradient: bool = False


@contextlib.contextmanager
def _whole_parts() -> Iterator[None]:
    """Lets threads that wait for the interpreter lock wait for a whole part. Else they take it after 5 ms, and what the
    program then drops lives on, since the scan retains it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_LONGEST_WAIT_S)
    during = sys.getswitchinterval()
    time.sleep(0)  # a thread that waits already takes the lock after the interval before
    try:
        yield
    finally:
        if sys.getswitchinterval() == during:  # else the program has set it
            sys.setswitchinterval(before)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keeps garbage alive until a scan has found what retains its tensors: the scan's own objects would begin a
    collection in the midst of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Referrers:
    """Scans the heap for one recording. Not thread-safe."""

    def __init__(
        self,
        torch: Any,
        plugin: Plugin,
        core: Core,
        heap: _heap.Heap,
        modules: _modules.Modules,
        labels: _labels.Labels,
    ) -> None:
        self._torch = torch
        self._plugin = plugin
        self._core = core
        self._heap = heap
        self._modules = modules
        self._labels = labels
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._offset_of_impl = _offset_of_impl(torch, self._cdata)
        # A scan on this thread does not read gradients: PyTorch releases the interpreter lock while it destroys one
        # that the program's thread replaces, and its field has the old address until then.
        self.polling_thread = 0

    def scan(self, reason: str, traceback: TracebackType | None = None, limits: Limits | None = None) -> None:
        """Records the retention path of each tensor on a GPU or created by a recorded node. Labeled tensors are left
        out, unless they belong to an allocation site that grows.

        traceback: of an exception; the variables of its frames are roots, too."""
        # An error follows from what this thread did; any thread may scan for another reason.
        thread = threading.get_ident() if reason == "out of memory" else None
        growing = set(self._core.growing_blocks())
        self._scan_all(reason, growing, False, Roots((), traceback, (), thread), _Parts(limits))

    def scan_growing(self, reason: str, limits: Limits) -> bool:
        """Records the retention paths of the memory of growing allocation sites, and of the nearest tensors whose graph
        may retain it. Returns False if a part of it has no path of its own yet, since the time was too short, or since
        nothing that is reachable retains it."""
        blocks = self._core.growing_blocks()
        parts = _Parts(limits)
        if not blocks or self._offset_of_impl == 0:
            self._send(reason, parts, 0, len(blocks), [])  # the recorder waits for the answer
            return not blocks
        wanted = self._wanted(blocks)
        with _whole_parts():
            return self._search_growing(reason, blocks, wanted, parts)

    def _search_growing(self, reason: str, blocks: Sequence[int], wanted: _heap.Blocks, parts: _Parts) -> bool:
        modules = _roots.namespaces()
        roots = _roots.nearest(modules, None)
        with self._heap.search((), _roots.barriers(modules), wanted) as search:
            parts.next_if_long()
            if search.search_from([root.for_search() for root in roots], parts.left()) and parts.next_if_long():
                further = _roots.of_loops(self._heap) + _roots.furthest(modules)
                search.search_from([root.for_search() for root in further], parts.left())
                roots += further
            found = list(self._found(search, roots, set(blocks), parts))
            self._send(reason, parts, search.objects(), len(blocks), found)
        return 2 * len({target.place.address for target, _ in found}.intersection(blocks)) >= len(blocks)

    def _wanted(self, blocks: Sequence[int]) -> _heap.Blocks:
        plugin = self._plugin
        tensor_type = self._torch._C.TensorBase
        return _heap.Blocks(blocks, tensor_type, plugin.block_of(), plugin.has_node(), self._offset_of_impl)

    def scan_all_growing(self, reason: str, limits: Limits | None) -> None:
        """Works as scan_growing(), but lists all objects, and so finds all tensors whose graph may retain the memory;
        without limits also memory that only C or a reference cycle retains."""
        self._scan_all(reason, set(self._core.growing_blocks()), True, _NO_MORE_ROOTS, _Parts(limits))

    def _found(
        self, search: _heap.Search, roots: list[_roots.Root], blocks: Collection[int], parts: _Parts
    ) -> Iterator[tuple[_Target, _Links]]:
        places = _links.Places(self._heap)
        for number in range(search.targets()):
            path = search.path_to(number)
            if path is not None:
                links = _paths.links(places, path, roots)
                for target in self._targets_of(path.objects[-1], blocks, with_nodes=True):
                    yield target, links
            del path  # the program runs
            if not parts.next_if_long():
                return

    def _scan_all(self, reason: str, growing: Collection[int], only_growing: bool, given: Roots, parts: _Parts) -> None:
        with _whole_parts(), _no_collection() if not parts.are_limited else contextlib.nullcontext():
            # No pause from here to the search: a tensor that the program replaces meanwhile would live longer, without
            # a referrer.
            modules, tensors, autograd_contexts, contexts = self._objects(parts)
            self._modules.add(modules)
            del modules  # it would be a referrer itself
            self._labels.find_new()
            tensors, targets = self._choose(tensors, growing, only_growing, parts.is_over)
            given = given._replace(autograd_contexts=autograd_contexts, contexts=contexts)
            result = find(self._heap, tensors, given, parts)
        found = [
            (target, links)
            for of_tensor, links in zip(targets, result.links)
            for target in of_tensor
            if links is not None or result.is_complete
        ]
        self._send(reason, parts, result.objects, len(result.links), found)
        if len(result.links) == MOST_TENSORS:
            self._core.push(_records.data_gap("referrers_failed", f"a scan follows at most {MOST_TENSORS} tensors"))

    def _objects(self, parts: _Parts) -> list[list[Any]]:
        """Returns the modules, the tensors, the contexts of autograd functions and those of context variables."""
        wanted = self._torch.nn.Module, self._torch._C.TensorBase, self._torch._C._FunctionBase, Context
        if not parts.are_limited:
            return self._heap.instances(*wanted)
        return self._heap.instances_in_parts(*wanted, longest_s=_LONGEST_WALK_S, between=parts.next)

    def _send(
        self, reason: str, parts: _Parts, visited: int, tensors: int, found: list[tuple[_Target, _Links]]
    ) -> None:
        duration = time.perf_counter_ns() - parts.began
        longest = 0 if reason == "end" else parts.longest()  # the program has ended: nothing waits
        self._core.push(_records.heap_scan(reason, duration, longest, visited, tensors))
        for target, links in found:
            # A tensor that only C++ retains is worth a record only if it belongs to the graph.
            if links or target.place.node != 0:
                own = [*(links or [_links.Link("native", "")]), *_last_links(target)]
                self._core.push(_records.referrer(target.place[:4], own))

    def _choose(
        self, all_tensors: list[Any], growing: Collection[int], only_growing: bool, is_late: Callable[[], bool]
    ) -> tuple[list[Any], list[list[_Target]]]:
        """Returns the tensors to search for, and what each of them is the path of."""
        tensors, targets = [], []
        examples = set() if only_growing else self._labels.examples()
        with self._torch._C.DisableTorchFunction():
            while all_tensors:
                tensor = all_tensors.pop()
                if not _labels.has_memory(tensor):
                    continue
                is_labeled = tensor in self._labels
                blocks = growing if only_growing or (is_labeled and id(tensor) not in examples) else None
                of_tensor = self._targets_of(tensor, blocks, with_nodes=not is_labeled)
                if of_tensor:
                    tensors.append(tensor)
                    targets.append(of_tensor)
                    if len(tensors) == MOST_TENSORS or is_late():
                        all_tensors.clear()
        return tensors, targets

    def _targets_of(self, tensor: Any, blocks: Collection[int] | None, with_nodes: bool = False) -> list[_Target]:
        """Returns the tensor and its gradient, as far as their memory is among `blocks`. None: the tensor, if it is on
        a GPU or belongs to the graph. with_nodes: the tensor also if a recorded node created it, since the graph behind
        it retains memory."""
        with self._torch._C.DisableTorchFunction():
            impl = self._cdata(tensor)
        place = self._plugin.identify(impl)
        if blocks is None:
            return [_Target(place)] if place.node != 0 or place.device != _abi.NO_DEVICE else []
        found = [_Target(place)] if place.address in blocks or (with_nodes and place.node != 0) else []
        gradient = self._plugin.gradient_of(impl) if threading.get_ident() != self.polling_thread else 0
        if gradient:
            place = self._plugin.identify(gradient)
            found += [_Target(place, True)] if place.address in blocks else []
        return found


def _last_links(target: _Target) -> Iterator[_links.Link]:
    if target.is_gradient:
        yield _links.Link("attribute", "grad of Tensor")
    if 0 < target.place.bytes * _VIEW_MATTERS <= target.place.storage_bytes:
        yield _links.Link("view", f"{target.place.bytes} of {target.place.storage_bytes}")


def _offset_of_impl(torch: Any, cdata: Any) -> int:
    """Returns where a tensor object stores the address of its TensorImpl; 0: unknown."""
    tensor = torch.empty(0, device="cpu")
    offsets = range(16, type(tensor).__basicsize__, 8)
    impl = cdata(tensor)
    return next((at for at in offsets if ctypes.c_uint64.from_address(id(tensor) + at).value == impl), 0)
