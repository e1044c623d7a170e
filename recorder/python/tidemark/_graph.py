# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The part "graph" of a recording: labels memory with names and scans the heap for referrers.

No failure may end or change the program. Each kind of failure is reported once as a data gap.
"""

from __future__ import annotations

import collections
import functools
import math
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Callable

from tidemark import (
    _arrays,
    _callbacks,
    _failures,
    _garbage,
    _heap,
    _introspect,
    _labels,
    _modules,
    _pauses,
    _poller,
    _referrers,
    _scans,
    _tensors,
)
from tidemark._core import Core
from tidemark._failures import reports_failures
from tidemark._plugin import Plugin
from tidemark._sentence import Sentence

_FEWEST_NODES = 64
_FEWEST_BYTES = 1 << 20
_GROWTH = 1.5  # factor by which retained bytes, or the time of the recording, grow before the next scan
_SHORTEST_PAUSE_S = 5.0  # before a scan since time has passed
_EARLIEST_S = 1.0  # since the begin, for scans since memory grows: in the first steps everything does
_POLLS = 3  # retained bytes are the minimum over this number of polls
_POLLS_OF_NODES = 16  # and retained nodes, once there was a scan, over this one: nodes come and go in each step
_POLLS_WITHOUT_STEP = 2  # before polls update the labels, as steps do
_ALWAYS_SCANNED_OOMS = 8  # retries with ever smaller inputs fail a few times before the error that ends the program
_LONGEST_FIRST_STEP_S = 1.0  # for which requested scans wait


def _stops_program(method: Callable[..., None]) -> Callable[..., None]:
    """Measures a method that the program's threads call."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any) -> None:
        with self._pauses.measure():
            method(self, *arguments)

    return call


class Graph:
    """Records the graph of one recording. Any thread may call every method. The constructor raises OSError if the heap
    of this Python cannot be scanned.

    modules: gets the modules that exist now, and must get later ones. report_gap: reports a data gap."""

    def __init__(
        self,
        torch: Any,
        plugin: Plugin,
        core: Core,
        modules: _modules.Modules,
        pauses: _pauses.Pauses,
        report_gap: _failures.ReportGap,
    ) -> None:
        heap = _heap.Heap()
        modules.add(_modules.all_modules(torch.nn.Module, heap))
        self._torch = torch
        self._plugin = plugin
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._pauses = pauses
        self.failures = _failures.Failures(
            report_gap,
            "graph_incomplete",
            lambda details: Sentence("the graph is recorded incompletely: {details}", details=details),
        )
        self._labels = _labels.Labels(torch, plugin, modules)
        self._tensors = _tensors.Tensors(torch, plugin, modules, self._labels)
        kinds = self._tensors, _arrays.Arrays(core, plugin.sequences)
        self._referrers = _referrers.Referrers(core, heap, kinds, self._tensors)
        self._scans = _scans.Scans(core, self._referrers, pauses)
        self._core = core
        self._nodes_at_scan: int | None = None  # none: there was no scan
        self._bytes_at_scan = 0
        self._began = time.monotonic()
        self._next_scan_s = _SHORTEST_PAUSE_S  # since then, unless more memory is retained before
        self._allocated: collections.deque[int] = collections.deque(maxlen=_POLLS)
        self._alive: collections.deque[int] = collections.deque(maxlen=_POLLS_OF_NODES)  # nodes
        # Ids of the newest nodes at the last two steps, and at the last two marks.
        self._newest_at_steps: collections.deque[int] = collections.deque(maxlen=2)
        self._newest_at_marks: collections.deque[int] = collections.deque(maxlen=2)
        self._backwards: list[None] = []  # one entry per backward pass in progress: passes nest, also across threads
        self._first_backward: float | None = None  # when it began, until a training step has ended
        self._ooms = 0
        self._reason_to_scan = ""  # "": none
        self._ended = False
        self._polls_since_step = 0
        self._garbage = _garbage.Collections(core, heap.ticks, self._before_freeze)
        _callbacks.watch()
        self._poller = _poller.Poller(self._poll)

    def close(self) -> None:
        """Stops the polling and the recording of garbage collections."""
        self._scans.close()
        self._poller.stop()
        self._garbage.stop()

    @_stops_program
    @reports_failures
    def record_roots(self, roots: Iterable[Any]) -> None:
        """Records the nodes of these tensors, from which a backward pass begins: no op reports the node of an
        autograd.Function."""
        for root in roots if self._plugin.records_details() else ():
            if _introspect.is_tensor(root):
                self._plugin.identify(self._cdata(root))

    @_stops_program
    @reports_failures
    def backward_begins(self) -> None:
        """Handles the begin of a backward pass."""
        self._backwards.append(None)
        if not self._newest_at_steps and self._first_backward is None:
            self._first_backward = time.monotonic()
        self._labels.find_new()

    def is_in_backward(self) -> bool:
        """Returns whether a backward pass began that has not ended."""
        return bool(self._backwards)

    @_stops_program
    @reports_failures
    def backward_ends(self) -> None:
        """Handles the end of a backward pass."""
        if self._backwards:
            self._backwards.pop()
        if not self._backwards:
            self._update_labels_of_step(self._plugin.update_labels_of_parameters)

    @_stops_program
    @reports_failures
    def optimizer_stepped(self, optimizer: Any) -> None:
        """Handles the end of this optimizer's step."""
        self._labels.optimizer_stepped(optimizer)

    @_stops_program
    @reports_failures
    def step_ended(self) -> None:
        """Handles the end of a training step."""
        self._labels.find_new()
        self._update_labels_of_step(self._plugin.update_labels)
        self._newest_at_steps.append(self._plugin.live_nodes()[1])
        self._first_backward = None
        self._serve_request()

    def note_step(self) -> None:
        """Handles the end of a training step whose labels are updated later."""
        self._polls_since_step = 0

    def _update_labels_of_step(self, update: Callable[[], None]) -> None:
        """Updates the labels, except in light steps: their memory is labeled in the step that they repeat."""
        self._polls_since_step = 0
        if self._plugin.records_details():
            update()

    @_stops_program
    @reports_failures
    def marked(self, name: str) -> None:
        """Handles a mark. Polls scan the heap if nodes are alive that are older than the last two marks or steps."""
        self._labels.find_new()
        self._plugin.update_labels()
        alive, newest = self._plugin.live_nodes()
        before = [numbers[0] for numbers in (self._newest_at_steps, self._newest_at_marks) if len(numbers) == 2]
        self._newest_at_marks.append(newest)
        # More nodes are alive than were created since then, so some are older.
        if before and alive > newest - min(before):
            self._reason_to_scan = f"mark {name}"

    @_stops_program
    @reports_failures
    def out_of_memory(self) -> None:
        """Handles an out-of-memory error. Scans the heap."""
        self._labels.find_new()
        self._plugin.update_labels()
        self._ooms += 1
        if self._ooms <= _ALWAYS_SCANNED_OOMS:
            self._scan("out of memory")
        else:
            self._scan_if_affordable("out of memory", _scans.LONGEST_PART_S)

    @_stops_program
    @reports_failures
    def scan(self) -> None:
        """Scans the heap on request of the user. Waits up to 5 s for a scan of another thread."""
        self._labels.find_new()
        self._plugin.update_labels()
        self._scan("asked", wait_s=_scans.LONGEST_WAIT_S)

    @reports_failures
    def ends(self, traceback: TracebackType | None) -> None:
        """Scans the heap at the end of the recording, once. traceback: of the exception that ends the program."""
        if not self._ended:
            self._ended = True
            self._labels.find_new()
            self._plugin.update_labels()
            self._scan("end", traceback, _scans.LONGEST_WAIT_S)

    def _update_labels_without_steps(self) -> None:
        """Updates the labels of a program that has no backward passes and steps now, such as a server."""
        self._polls_since_step += 1
        if self._polls_since_step >= _POLLS_WITHOUT_STEP and self._plugin.records_details():
            self._labels.find_new()
            self._plugin.update_labels_of_tensors()

    @reports_failures
    def _poll(self) -> None:
        self._tensors.polling_thread = self._scans.polling_thread = threading.get_ident()
        self._scans.serve_full_request(self.scan)
        if not self._plugin.records_details() and self._core.details_paused():
            return
        self._update_labels_without_steps()
        if self._polls_since_step >= _POLLS_WITHOUT_STEP:
            self._serve_request()  # else a step serves it soon, on a thread that may read gradients
        self._scan_further()
        alive, _ = self._plugin.live_nodes()
        self._alive.append(alive)
        if self._nodes_at_scan is not None:
            alive = min(self._alive) if len(self._alive) == _POLLS_OF_NODES else 0
        self._allocated.append(self._allocated_bytes())
        retained = min(self._allocated) if len(self._allocated) == _POLLS else 0
        has_grown = alive >= max(_FEWEST_NODES, 2 * (self._nodes_at_scan or 0)) or retained >= max(
            _FEWEST_BYTES, _GROWTH * self._bytes_at_scan
        )
        passed = time.monotonic() - self._began
        # What a phase of the program leaves behind stays without growing.
        is_due = retained >= _FEWEST_BYTES and passed >= self._next_scan_s
        if passed >= _EARLIEST_S and (has_grown or is_due):
            self._scan_if_affordable("memory grows", _scans.MOST_FOR_RETAINED_S, _scans.MOST_FOR_RETAINED_S)

    def _allocated_bytes(self) -> int:
        cuda = self._torch.cuda
        return sum(map(cuda.memory_allocated, range(cuda.device_count()))) if cuda.is_initialized() else 0

    def _serve_request(self) -> None:
        """Serves a request of the recorder process, unless gradients and optimizer state are being created, which grow
        once."""
        began = self._first_backward
        if began is None or time.monotonic() - began >= _LONGEST_FIRST_STEP_S:
            self._scans.serve_request()

    def _scan_further(self) -> None:
        """Makes the scans that a thread of the program would have to wait for."""
        self._scans.scan_further()
        if self._reason_to_scan:
            reason, self._reason_to_scan = self._reason_to_scan, ""
            self._scan_if_affordable(reason, _scans.FIRST_SCAN_S)

    @reports_failures
    def _before_freeze(self) -> None:
        """Scans for the memory of growing allocation sites as long as garbage among it can be seen."""
        if not self._core.details_paused():
            self._scans.scan_before_freeze()

    def _scan(self, reason: str, traceback: TracebackType | None = None, wait_s: float = 0.0) -> None:
        retained = self._retained()
        if self._scans.scan(reason, traceback, wait_s):
            self._scanned(*retained)

    def _scan_if_affordable(self, reason: str, expected_s: float, most_s: float = math.inf) -> None:
        retained = self._retained()
        if self._scans.scan_if_affordable(reason, expected_s, most_s):
            self._scanned(*retained)

    def _scanned(self, nodes: int, retained_bytes: int) -> None:
        self._nodes_at_scan, self._bytes_at_scan = nodes, retained_bytes
        passed = time.monotonic() - self._began
        self._next_scan_s = max(passed + _SHORTEST_PAUSE_S, _GROWTH * passed)

    def _retained(self) -> tuple[int, int]:
        """Returns the numbers of nodes and bytes that are retained."""
        return min(self._alive, default=self._plugin.live_nodes()[0]), min(self._allocated, default=0)
