# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The part "graph" of a recording: labels memory with names and scans the heap for referrers.

No failure may end or change the program. Each kind of failure is reported once as a data gap.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import threading
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Callable

from tidemark import _budget, _callbacks, _garbage, _heap, _introspect, _labels, _modules, _pauses, _poller, _referrers
from tidemark._core import Core
from tidemark._plugin import Plugin
from tidemark._sentence import Sentence

_SHARE = 0.01  # of the program's time for scans that nobody asked for
_LONGEST_PART_S = 0.03  # of such a scan
_FIRST_SCAN_S = 0.04  # expected
_FIRST_GROWTH_SCAN_S = 0.02  # expected: a scan since memory grows, as while a model is loaded, must leave time for it
_MOST_FOR_RETAINED_S = 0.04  # of a scan since memory grows: the rest is for growing sites, which say more
_FEWEST_NODES = 64
_FEWEST_BYTES = 1 << 20
_GROWTH = 1.5  # factor by which retained bytes grow before the next scan
_POLLS = 3  # retained bytes are the minimum over this number of polls
_POLLS_OF_NODES = 16  # and retained nodes, once there was a scan, over this one: nodes come and go in each step
_POLLS_WITHOUT_STEP = 2  # before polls update the labels, as steps do
_ALWAYS_SCANNED_OOMS = 8  # retries with ever smaller inputs fail a few times before the error that ends the program
_LONGEST_WAIT_S = 5.0
_LONGEST_FIRST_STEP_S = 1.0  # for which requested scans wait
_GROWTH_REASON = "allocation sites grow"  # as in facts.cpp: the recorder waits for it


def _reports_failures(method: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any) -> None:
        try:
            method(self, *arguments)
        except Exception as failure:  # no failure of the recorder may end the program
            self._failed(method.__name__, failure)

    return call


def _stops_program(method: Callable[..., None]) -> Callable[..., None]:
    """Measures a method that the program's threads call."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any) -> None:
        self._pauses.begin()
        try:
            method(self, *arguments)
        finally:
            self._pauses.end()

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
        report_gap: Callable[[str, Sentence, object], None],
    ) -> None:
        heap = _heap.Heap()
        modules.add(_modules.all_modules(torch.nn.Module, heap))
        self._torch = torch
        self._plugin = plugin
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._pauses = pauses
        self._report_gap = report_gap
        self._labels = _labels.Labels(torch, plugin, modules)
        self._referrers = _referrers.Referrers(torch, plugin, core, heap, modules, self._labels)
        self._scanning = threading.Lock()
        self._core = core
        self._budget = _budget.Budget(_SHARE)
        self._last_growth_scan_s = _FIRST_GROWTH_SCAN_S
        self._requests_served = core.scans_wanted()
        self._full_scans_served = core.full_scans_wanted()
        core.serve_scans(1)
        self._nodes_at_scan: int | None = None  # none: there was no scan
        self._bytes_at_scan = 0
        self._allocated: collections.deque[int] = collections.deque(maxlen=_POLLS)
        self._alive: collections.deque[int] = collections.deque(maxlen=_POLLS_OF_NODES)  # nodes
        # Ids of the newest nodes at the last two steps, and at the last two marks.
        self._newest_at_steps: collections.deque[int] = collections.deque(maxlen=2)
        self._newest_at_marks: collections.deque[int] = collections.deque(maxlen=2)
        self._backwards: list[None] = []  # one entry per backward pass in progress: passes nest, also across threads
        self._first_backward: float | None = None  # when it began, until a training step has ended
        self._ooms = 0
        self._reason_to_scan = ""  # "": none
        self._growth_is_unexplained = False  # by a scan for growing sites
        self._ended = False
        self._polls_since_step = 0
        self._failures: set[str] = set()
        self._garbage = _garbage.Collections(core, heap.ticks, self._before_freeze)
        _callbacks.watch()
        self._poller = _poller.Poller(self._poll)

    def close(self) -> None:
        """Stops the polling and the recording of garbage collections."""
        self._core.serve_scans(0)
        self._poller.stop()
        self._garbage.stop()

    def _failed(self, what: str, failure: Exception) -> None:
        if what not in self._failures:
            self._failures.add(what)
            details = f"{what}: {type(failure).__name__}: {failure}"
            sentence = Sentence("the graph is recorded incompletely: {details}", details=details)
            self._report_gap("graph_incomplete", sentence, details)

    @_stops_program
    @_reports_failures
    def record_roots(self, roots: Iterable[Any]) -> None:
        """Records the nodes of these tensors, from which a backward pass begins: no op reports the node of an
        autograd.Function."""
        for root in roots if self._plugin.records_details() else ():
            if _introspect.is_tensor(root):
                self._plugin.identify(self._cdata(root))

    @_stops_program
    @_reports_failures
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
    @_reports_failures
    def backward_ends(self) -> None:
        """Handles the end of a backward pass."""
        if self._backwards:
            self._backwards.pop()
        if not self._backwards:
            self._update_labels_of_step(self._plugin.update_labels_of_parameters)

    @_stops_program
    @_reports_failures
    def optimizer_stepped(self, optimizer: Any) -> None:
        """Handles the end of this optimizer's step."""
        self._labels.optimizer_stepped(optimizer)

    @_stops_program
    @_reports_failures
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
    @_reports_failures
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
    @_reports_failures
    def out_of_memory(self) -> None:
        """Handles an out-of-memory error. Scans the heap."""
        self._labels.find_new()
        self._plugin.update_labels()
        self._ooms += 1
        if self._ooms <= _ALWAYS_SCANNED_OOMS:
            self._scan("out of memory")
        else:
            self._scan_if_affordable("out of memory", _LONGEST_PART_S)

    @_stops_program
    @_reports_failures
    def scan(self) -> None:
        """Scans the heap on request of the user. Waits up to 5 s for a scan of another thread."""
        self._labels.find_new()
        self._plugin.update_labels()
        self._scan("asked", wait_s=_LONGEST_WAIT_S)

    @_reports_failures
    def ends(self, traceback: TracebackType | None) -> None:
        """Scans the heap at the end of the recording, once. traceback: of the exception that ends the program."""
        if not self._ended:
            self._ended = True
            self._labels.find_new()
            self._plugin.update_labels()
            self._scan("end", traceback, _LONGEST_WAIT_S)

    def _update_labels_without_steps(self) -> None:
        """Updates the labels of a program that has no backward passes and steps now, such as a server."""
        self._polls_since_step += 1
        if self._polls_since_step >= _POLLS_WITHOUT_STEP and self._plugin.records_details():
            self._labels.find_new()
            self._plugin.update_labels_of_tensors()

    @_reports_failures
    def _poll(self) -> None:
        self._referrers.polling_thread = threading.get_ident()
        self._serve_full_request()
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
        if alive >= max(_FEWEST_NODES, 2 * (self._nodes_at_scan or 0)) or retained >= max(
            _FEWEST_BYTES, _GROWTH * self._bytes_at_scan
        ):
            self._scan_if_affordable("memory grows", math.inf, _MOST_FOR_RETAINED_S)

    def _allocated_bytes(self) -> int:
        cuda = self._torch.cuda
        return sum(map(cuda.memory_allocated, range(cuda.device_count()))) if cuda.is_initialized() else 0

    def _scan_if_affordable(self, reason: str, expected_s: float, most_s: float = math.inf) -> None:
        if self._budget.allows(expected_s):
            with self._budget.spend():
                self._scan(reason, limits=self._limits(most_s))

    def _limits(self, most_s: float = math.inf) -> _referrers.Limits:
        """Returns the limits of a scan that nobody asked for. A thread of the program waits for the whole scan, others
        for a part of it."""
        is_polling = threading.get_ident() == self._referrers.polling_thread
        longest_s = math.inf if is_polling else _LONGEST_PART_S
        return _referrers.Limits(_LONGEST_PART_S, min(self._budget.left(), most_s, longest_s))

    def _serve_full_request(self) -> None:
        """Scans for everything if the user has requested it by a command."""
        wanted = self._core.full_scans_wanted()
        if wanted != self._full_scans_served:
            self._full_scans_served = wanted
            self.scan()
            self._core.full_scans_made(wanted)

    def _serve_request(self) -> None:
        """Scans for the memory of growing allocation sites if the recorder has requested it. A request that is too
        expensive now is served later."""
        wanted = self._core.scans_wanted()
        if wanted == self._requests_served or not self._may_scan_growing():
            return
        began = time.thread_time()
        with self._budget.spend(), self._exclusively() as is_free:
            if not is_free:
                return
            self._requests_served = wanted
            found = self._referrers.scan_growing(_GROWTH_REASON, self._limits())
            self._growth_is_unexplained = not found
            self._last_growth_scan_s = time.thread_time() - began

    def _scan_further(self) -> None:
        """Makes the scans that a thread of the program would have to wait for."""
        if self._growth_is_unexplained and self._budget.allows(_FIRST_SCAN_S):
            self._growth_is_unexplained = False
            with self._budget.spend(), self._exclusively() as is_free:
                if is_free:
                    self._referrers.scan_all_growing(_GROWTH_REASON, self._limits())
        if self._reason_to_scan:
            reason, self._reason_to_scan = self._reason_to_scan, ""
            self._scan_if_affordable(reason, _FIRST_SCAN_S)

    @_reports_failures
    def _before_freeze(self) -> None:
        """Scans for the memory of growing allocation sites as long as garbage among it can be seen."""
        if self._core.details_paused():
            return
        if self._core.growing_blocks() and self._budget.allows(_FIRST_SCAN_S):
            with self._budget.spend(), self._exclusively() as is_free:
                if is_free:
                    self._referrers.scan_all_growing(_GROWTH_REASON, None)

    def _is_in_first_step(self) -> bool:
        """Returns whether gradients and optimizer state are being created, which grow once."""
        began = self._first_backward
        return began is not None and time.monotonic() - began < _LONGEST_FIRST_STEP_S

    def _may_scan_growing(self) -> bool:
        if self._is_in_first_step():
            return False
        return self._budget.allows(self._last_growth_scan_s)

    def _scan(
        self,
        reason: str,
        traceback: TracebackType | None = None,
        wait_s: float = 0.0,
        limits: _referrers.Limits | None = None,
    ) -> None:
        with self._exclusively(wait_s) as is_free:
            if is_free:
                self._nodes_at_scan = min(self._alive, default=self._plugin.live_nodes()[0])
                self._bytes_at_scan = min(self._allocated, default=0)
                self._referrers.scan(reason, traceback, limits)

    @contextlib.contextmanager
    def _exclusively(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Yields whether this thread may scan. Waits at most `wait_s` for another one."""
        is_free = self._scanning.acquire(timeout=wait_s)
        try:
            with self._pauses.exclude():
                yield is_free
        finally:
            if is_free:
                self._scanning.release()
