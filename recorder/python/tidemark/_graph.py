"""The part "graph" of a recording: labels memory by name, and looks for who holds tensors when that is worth it.

Nothing here may end or change the program: what fails is said once, and given up.
"""

import collections
import functools
import threading
import time

from tidemark import _garbage, _heap, _referrers, _inside, _labels, _watch

_LARGEST_SHARE = 0.01  # of the run's time, for scans that nobody asked for
_FREE_S = 0.2
_FEWEST_NODES = 64
_FEWEST_BYTES = 1 << 20
_GROWTH = 1.5  # of what stays allocated since the last scan
_LOOKS = 3  # what stays is the least seen at so many looks in a row
_ALWAYS_SCANNED_OOMS = 3
_LONGEST_WAIT_S = 5.0


def _quiet(method):
    @functools.wraps(method)
    def call(self, *arguments):
        try:
            method(self, *arguments)
        except Exception as failure:  # nothing of ours may end the program
            self._failed(method.__name__, failure)

    return call


class Graph:
    """Raises OSError with a sentence where the heap of this Python cannot be searched. Called from any thread."""

    def __init__(self, torch, plugin, core, lose):
        if not hasattr(plugin, "identify"):
            raise OSError("the recorder's plugin does not follow the graph")
        heap = _heap.Heap()
        self._torch = torch
        self._plugin = plugin
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._lose = lose
        self._labels = _labels.Labels(torch, plugin, heap)
        self._referrers = _referrers.Referrers(torch, plugin, core, heap, self._labels)
        self._scanning = threading.Lock()
        self._began, self._spent = time.monotonic(), 0.0
        self._last_scan_s = 0.0
        self._nodes_at_scan = self._bytes_at_scan = 0
        self._allocated = collections.deque(maxlen=_LOOKS)
        # Numbers of the newest nodes at the last two steps, and at the last two marks.
        self._newest_at_steps = collections.deque(maxlen=2)
        self._newest_at_marks = collections.deque(maxlen=2)
        self._backwards = []  # one entry per backward pass under way: they nest, and threads have their own
        self._ooms = 0
        self._ended = False
        self._failures = set()
        self._garbage = _garbage.Collections(core, heap.ticks)
        self._watch = _watch.Watch(self._look_around)

    def close(self):
        self._watch.stop()
        self._garbage.stop()

    def _failed(self, what, failure):
        if what not in self._failures:
            self._failures.add(what)
            details = f"{what}: {type(failure).__name__}: {failure}"
            self._lose("graph_incomplete", f"the graph is recorded incompletely: {details}", details)

    def modules_changed(self):
        self._labels.modules_changed()

    @_quiet
    def backward_begins(self, roots):
        self._backwards.append(None)
        self._labels.look_for_new()
        for root in roots:
            if _inside.is_tensor(root):
                self._plugin.identify(self._cdata(root))  # a user's own function is told at the latest now

    @_quiet
    def backward_ends(self):
        if self._backwards:
            self._backwards.pop()
        if not self._backwards:
            self._plugin.look_at_watched()

    @_quiet
    def optimizer_stepped(self, optimizer):
        self._labels.optimizer_stepped(optimizer)

    @_quiet
    def step_ended(self):
        self._labels.look_for_new()
        self._plugin.look_at_watched()
        self._newest_at_steps.append(self._plugin.live_nodes()[1])

    @_quiet
    def marked(self, name):
        self._labels.look_for_new()
        self._plugin.look_at_watched()
        alive, newest = self._plugin.live_nodes()
        before = [numbers[0] for numbers in (self._newest_at_steps, self._newest_at_marks) if len(numbers) == 2]
        self._newest_at_marks.append(newest)
        # More are alive than were made since: some are older.
        if before and alive > newest - min(before):
            self._scan_if_affordable(f"mark {name}")

    @_quiet
    def out_of_memory(self):
        self._labels.look_for_new()
        self._plugin.look_at_watched()
        self._ooms += 1
        if self._ooms <= _ALWAYS_SCANNED_OOMS:
            self._scan("out of memory")
        else:
            self._scan_if_affordable("out of memory")

    @_quiet
    def asked(self):
        self._labels.look_for_new()
        self._plugin.look_at_watched()
        self._scan("asked", wait_s=_LONGEST_WAIT_S)

    @_quiet
    def ends(self, traceback):
        if not self._ended:
            self._ended = True
            self._labels.look_for_new()
            self._plugin.look_at_watched()
            self._scan("end", traceback, _LONGEST_WAIT_S)

    @_quiet
    def _look_around(self):
        alive, _ = self._plugin.live_nodes()
        self._allocated.append(self._allocated_bytes())
        stays = min(self._allocated) if len(self._allocated) == _LOOKS else 0
        if alive >= max(_FEWEST_NODES, 2 * self._nodes_at_scan) or stays >= max(
            _FEWEST_BYTES, _GROWTH * self._bytes_at_scan
        ):
            self._scan_if_affordable("memory grows")

    def _allocated_bytes(self):
        cuda = self._torch.cuda
        return sum(map(cuda.memory_allocated, range(cuda.device_count()))) if cuda.is_initialized() else 0

    def _scan_if_affordable(self, reason):
        began = time.monotonic()
        if self._spent + self._last_scan_s <= _FREE_S + _LARGEST_SHARE * (began - self._began):
            self._scan(reason)
            self._last_scan_s = time.monotonic() - began
            self._spent += self._last_scan_s

    def _scan(self, reason, traceback=None, wait_s=0.0):
        if not self._scanning.acquire(timeout=wait_s):
            return
        try:
            self._nodes_at_scan = self._plugin.live_nodes()[0]
            self._bytes_at_scan = min(self._allocated, default=0)
            self._referrers.scan(reason, traceback)
        finally:
            self._scanning.release()
