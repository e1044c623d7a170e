# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records what retains tensors: scans the Python heap for retention paths and sends them.

The scan holds the interpreter lock, so all Python threads wait. The calling thread continues when all paths are sent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import tidemark._abi as _abi
from tidemark import _heap, _labels, _links, _modules, _paths, _records, _roots
from tidemark._core import Core
from tidemark._plugin import Plugin

MOST_TENSORS = 20_000


def find(
    heap: _heap.Heap, targets: list[Any], contexts: Sequence[Any] = (), traceback: TracebackType | None = None
) -> tuple[list[list[_links.Link] | None], int]:
    """Returns the links to each target (None: no Python object refers to it) and the number of objects visited.

    contexts: those of autograd functions, which only C++ refers to. Empties the list `targets` as soon as the search
    knows their addresses, so that the list is not a referrer itself."""
    count = len(targets)
    with heap.search(targets, _roots.barriers()) as search:
        targets.clear()
        roots = _search_all(search, contexts, traceback)
        places = _links.Places(heap)
        paths = (search.path_to(number) for number in range(count))
        named = [path and _paths.links(places, path, roots) for path in paths]
        return named, search.objects()


def _search_all(search: _heap.Search, contexts: Sequence[Any], traceback: TracebackType | None) -> list[_roots.Root]:
    """Searches from the roots with the best names first, until all targets have a path. Returns the roots used."""
    roots: list[_roots.Root] = []
    for stage in (lambda: _roots.nearest(traceback), lambda: _roots.of_contexts(contexts), _roots.furthest):
        found = stage()
        missing = search.search_from([(root.object, root.variables()) for root in found])
        if missing and not roots:
            missing = search.drop_unreferenced()
        roots += found
        if not missing:
            return roots
    search.search_unreachable()
    return roots


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

    def scan(self, reason: str, traceback: TracebackType | None = None) -> None:
        """Records the retention path of each tensor on a GPU or created by a recorded node, except labeled tensors.

        traceback: of an exception; the variables of its frames are roots, too."""
        began = time.perf_counter_ns()
        parts = self._torch._C
        tensors, modules, contexts = self._heap.instances(parts.TensorBase, self._torch.nn.Module, parts._FunctionBase)
        self._modules.add(modules)
        self._labels.find_new()
        tensors, places = self._targets(tensors)
        found, visited = find(self._heap, tensors, contexts, traceback)
        self._core.push(_records.heap_scan(reason, time.perf_counter_ns() - began, visited, len(places)))
        for place, links in zip(places, found):
            # A tensor that only C++ retains is worth a record only if it belongs to the graph.
            if links or place[0] != 0:
                self._core.push(_records.referrer(place, links or [_links.Link("native", "")]))
        if len(places) == MOST_TENSORS:
            self._core.push(_records.data_gap("referrers_failed", f"a scan follows at most {MOST_TENSORS} tensors"))

    def _targets(self, all_tensors: list[Any]) -> tuple[list[Any], list[tuple[int, int, int, int]]]:
        """Returns the tensors to search for and, for each, (node, address, sequence, device)."""
        tensors, places = [], []
        with self._torch._C.DisableTorchFunction():
            while all_tensors:
                tensor = all_tensors.pop()
                if tensor not in self._labels and _labels.has_memory(tensor):
                    place = self._plugin.identify(self._cdata(tensor))
                    if place[0] != 0 or place[3] != _abi.NO_DEVICE:
                        tensors.append(tensor)
                        places.append(place)
                        if len(places) == MOST_TENSORS:
                            all_tensors.clear()
        return tensors, places
