# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""One recording of this process: attaches the parts of the recorder to torch and CUDA and sends their reports."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Callable

import tidemark._abi as _abi
from tidemark import _array_imports, _console, _core, _hooks, _modules, _pauses, _records, _torch_import
from tidemark._sentence import Sentence

PARTS = ("stacks", "ops", "modules", "graph", "driver", "nvml")
# The allocator's state is compared after the first time, then after pauses that grow to the second: a step in which it
# is compared is written whole, also amid steps that are left out.
CHECK_AFTER_S, CHECK_EVERY_S = 10.0, 120.0
CHECKS_SLOW_DOWN = 1.5
# Between two steps, the program's own code has replaced that of the hooks in the caches of the processor, so each
# statement of a hook costs about ten times as much as in a loop. They do what can wait this often only.
HOUSEKEEPING_EVERY_S = 0.2
FIRST_STEPS = 10  # create gradients and optimizer state, whose names do not wait
WAIT_FOR_TRACE_MS = 60_000
LAST_SAMPLE_MS = 1_000  # NVML itself takes some 400 ms to start


class Recording:
    """One thread calls begin() and end(). Any thread may call the other methods."""

    def __init__(self, core: _core.Core, parts: set[str]) -> None:
        self.core = core
        self.parts = parts
        self._pid = os.getpid()
        self._plugin: Any = None
        self._plugin_failure = OSError(Sentence("the recorder's plugin was not loaded"))
        self._records_allocator = False
        self._driver: Any = None
        self._frames: Any = None
        self._fallback: Any = None
        self._graph: Any = None
        self._arrays: Any = None  # scans for arrays, until there is a graph
        self._modules = _modules.Modules()
        self._pauses = _pauses.Pauses(core)
        self._phases: dict[str, int] = {}
        self._phase: str | None = None
        self._steps = {_records.STEP_SEEN: 0, _records.STEP_REPORTED: 0}
        self._next_check = time.monotonic() + CHECK_AFTER_S
        self._check_pause = CHECK_AFTER_S
        self._last_housekeeping = 0.0
        self._end_is_reported = False
        self.gaps: list[str] = []  # sentences about the parts that are not recorded

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.end(_abi.END_STOPPED, "", WAIT_FOR_TRACE_MS)
        else:
            self.last_scan(traceback)
            self.end(_abi.END_EXCEPTION, f"{kind.__name__}: {value}", WAIT_FOR_TRACE_MS)

    @property
    def output(self) -> str:
        """The path of the trace; "" while it has no name."""
        return self.core.output()

    def report_end(self) -> None:
        """Prints what the user should know at the end of the recording, once. `tidemark record` reports it itself."""
        if not self._end_is_reported and not os.environ.get("TIDEMARK_SESSION"):
            self._end_is_reported = True
            if sentence := self.core.end_notice():
                _console.notify(sentence)

    def leave_report(self) -> None:
        """Leaves it to the caller to say how the recording ended."""
        self._end_is_reported = True

    @property
    def used_gpu(self) -> bool:
        """Whether PyTorch has initialized CUDA, or CUDA's driver has given memory to this process."""
        torch = sys.modules.get("torch")
        return (torch is not None and torch.cuda.is_initialized()) or any(self.core.driver_events())

    @property
    def moves_at_end(self) -> bool:
        """Whether the trace moves to its destination at the end, which may take a while."""
        return bool(self.core.notice)

    def running(self) -> bool:
        """Returns False after the end, and in a forked child."""
        return self.is_of_this_process() and self.core.recording()

    def is_of_this_process(self) -> bool:
        """Returns False in a forked child."""
        return self._pid == os.getpid()

    def begin(self) -> None:
        """Attaches to torch and CUDA now, or as soon as the program imports and initializes them."""
        _hooks.report_to(self)
        self.core.push(_records.meta("python_version", sys.version.split()[0]))
        if "driver" in self.parts:
            from tidemark import _driver

            _driver.load_with_cuda()
            if _driver.cuda_is_loaded():
                self._record_driver()
        self._prepare_stacks()
        _torch_import.when_imported(self._on_torch_import)
        if "graph" in self.parts:
            _array_imports.when_imported(self._scan_for_arrays)

    def _on_torch_import(self, torch: Any) -> None:
        _hooks.install(torch)
        self._attach(self._attach_to_torch, torch)
        _torch_import.when_cuda_is_ready(torch, lambda: self._attach(self._attach_to_cuda, torch))

    def _attach(self, attach: Callable[[Any], None], torch: Any) -> None:
        if not self.running():
            return
        try:
            attach(torch)
        except Exception as failure:  # no failure of the recorder may end the program
            self.report_gap("attach_failed", Sentence("recording is incomplete: {failure}", failure=failure), failure)

    def _attach_to_torch(self, torch: Any) -> None:
        """Attaches the parts that need no GPU. An autograd graph exists on the CPU as well."""
        self.core.push(_records.meta("torch_version", torch.__version__))
        self._walk_stacks(torch)
        self._load_plugin(torch)
        if self._plugin and "graph" in self.parts:
            self._record_graph(torch)
        if self._frames and not self._graph and "modules" in self.parts:
            self._modules.add(_modules.all_modules(torch.nn.Module))

    def _attach_to_cuda(self, torch: Any) -> None:
        self._report_devices(torch)
        self.core.sample_now(0)
        if "driver" in self.parts:
            self._record_driver()
        self._record_allocator(torch)
        if self._graph:
            _hooks.observe_out_of_memory(torch)

    def _report_devices(self, torch: Any) -> None:
        for index in range(torch.cuda.device_count()):
            properties = torch.cuda.get_device_properties(index)
            pci = ""
            if hasattr(properties, "pci_bus_id"):
                pci = f"{properties.pci_domain_id:08X}:{properties.pci_bus_id:02X}:{properties.pci_device_id:02X}.0"
            uuid = f"GPU-{properties.uuid}" if hasattr(properties, "uuid") else ""
            self.core.push(_records.device(index, properties.total_memory, properties.name, pci, uuid))

    def _prepare_stacks(self) -> None:
        """Records Python stacks, also in programs without torch."""
        if "stacks" not in self.parts:
            return
        from tidemark import _frames

        try:
            self._frames = _frames.Frames()
        except OSError as failure:
            self.report_gap(
                "stacks_failed", Sentence("Python stacks are not recorded: {failure}", failure=failure), failure
            )
            return
        self._frames.walk_for(self.core.table, None)

    def _walk_stacks(self, torch: Any) -> None:
        if self._frames is None:
            return
        module_call = getattr(torch.nn.Module, "_wrapped_call_impl", None) if "modules" in self.parts else None
        self._frames.walk_for(self.core.table, module_call)

    def _record_driver(self) -> None:
        from tidemark import _driver

        if self._driver:
            return
        try:
            self._driver = _driver.Driver()
        except OSError as failure:
            self.report_gap(
                "driver_failed", Sentence("driver calls are not recorded: {failure}", failure=failure), failure
            )
            return
        if not self._driver.listening:
            _console.notify(self._driver.sentence)

    def _load_plugin(self, torch: Any) -> None:
        from tidemark import _plugin

        try:
            plugin = _plugin.Plugin(torch)
            plugin.attach(torch, self.core.table, self._parts_of_plugin())
            plugin.phase(self._number_of_phase(self._phase))
            self._plugin = plugin
        except OSError as failure:
            self._plugin_failure = failure
            if "graph" in self.parts:
                self.report_gap(
                    "graph_failed", Sentence("the autograd graph is not recorded: {failure}", failure=failure), failure
                )

    def _parts_of_plugin(self) -> int:
        parts = _abi.PLUGIN_OPS if "ops" in self.parts or "graph" in self.parts else 0
        if "graph" in self.parts:
            parts |= _abi.PLUGIN_GRAPH
        if os.environ.get("TIDEMARK_DETAIL") == "adaptive":
            parts |= _abi.PLUGIN_LIGHT_STEPS
        return parts

    def _record_allocator(self, torch: Any) -> None:
        from tidemark import _allocator

        if not _allocator.reports_events(torch):
            self._record_driver_events(torch)
        elif self.core.driver_owns_events():
            self.report_gap(
                "allocator_late",
                Sentence(
                    "PyTorch started to use the GPU after other code; its allocator's events are not recorded, only"
                    " the memory that it gets from CUDA. Use PyTorch on the GPU first to record them"
                ),
                "",
            )
        else:
            self._record_allocator_events(torch)

    def _record_allocator_events(self, torch: Any) -> None:
        try:
            if self._plugin is None:
                raise self._plugin_failure
            self._plugin.attach(torch, self.core.table, self._parts_of_plugin() | _abi.PLUGIN_ALLOCATOR)
            self._records_allocator = True
        except OSError as failure:
            self.core.push(_records.no_allocator())
            self._fall_back(torch, failure)

    def _record_driver_events(self, torch: Any) -> None:
        """Records driver allocations as the events of the devices, with the ops and stacks of PyTorch."""
        self.core.push(_records.no_allocator())
        if not self._driver:
            allocator = torch.cuda.memory.get_allocator_backend()
            details = Sentence(
                "the allocator in use ({allocator}) reports none, and the part `driver` is not recorded",
                allocator=allocator,
            )
            self._report_no_events(details)
        if self._plugin:
            parts = self._parts_of_plugin() & ~_abi.PLUGIN_LIGHT_STEPS
            self._plugin.attach(torch, self.core.table, parts | _abi.PLUGIN_DRIVER)

    def _scan_for_arrays(self) -> None:
        from tidemark import _array_scans

        if self._graph is None and self.running():
            self._arrays = _array_scans.ArrayScans(self.core, self._pauses, self.report_gap)

    def _record_graph(self, torch: Any) -> None:
        from tidemark import _graph

        if self._arrays:
            self._arrays.close()
            self._arrays = None
        try:
            self._graph = _graph.Graph(torch, self._plugin, self.core, self._modules, self._pauses, self.report_gap)
        except OSError as failure:
            self.report_gap(
                "referrers_failed",
                Sentence("referrers of tensors are not recorded: {failure}", failure=failure),
                failure,
            )

    def _fall_back(self, torch: Any, failure: OSError) -> None:
        from tidemark import _fallback

        try:
            self._fallback = _fallback.Fallback(torch, self.core)
            self.report_gap(
                "allocator_fallback",
                Sentence(
                    "{failure}. PyTorch's own memory history is recorded instead, into a file beside the trace that"
                    " ends in {ending}",
                    failure=failure,
                    ending=_fallback.ENDING,
                ),
                f"{failure} (into a file beside the trace that ends in {_fallback.ENDING})",
            )
        except Exception as second:
            self._report_no_events(
                Sentence(
                    "{failure}; PyTorch's own memory history does not work either: {second}",
                    failure=failure,
                    second=second,
                )
            )

    def _report_no_events(self, details: Sentence) -> None:
        sentence = Sentence("allocator events are not recorded: {details}", details=details)
        self.report_gap("allocator_failed", sentence, details)

    def report_gap(self, reason: str, sentence: Sentence, details: object) -> None:
        """Reports a part that is not recorded. Prints the sentence on stderr; sends reason and details to the trace."""
        _console.notify(sentence)
        self.gaps.append(sentence)
        self.core.push(_records.data_gap(reason, details))

    def mark(self, name: str, value: float | None) -> None:
        """Names this point in time. value: None for none."""
        self._name_new_modules()
        self.core.push(_records.mark(name, value, self._sequences()))
        if self._graph and not self.core.details_paused():
            self._graph.marked(name)

    def _sequences(self) -> list[int]:
        """Returns the number of events so far, per device; [] while it is not known whose events those are."""
        if self._records_allocator:
            return self._plugin.sequences()
        return self.core.driver_events() if self.core.driver_owns_events() else []

    def step_ended(self, source: int) -> None:
        """Ends a training step. source: _records.STEP_SEEN or STEP_REPORTED."""
        number = self._steps[source]
        is_due = self._is_due()
        self._steps[source] = number + 1
        if self._plugin and not is_due:
            self._plugin.end_step(source, number)
            if self._graph:
                self._graph.note_step()
            return
        self.core.push(_records.step(source, number))
        if not self.core.details_paused():
            self._do_housekeeping(time.monotonic())
            if self._graph:
                self._graph.step_ended()
        if self._plugin:
            self._plugin.step_ended()

    def _is_due(self) -> bool:
        """Returns whether a step does what others leave to it: it names what is new or has moved."""
        is_first = max(self._steps.values()) < FIRST_STEPS
        return is_first or time.monotonic() - self._last_housekeeping > HOUSEKEEPING_EVERY_S

    def phase(self, name: str | None) -> contextlib.AbstractContextManager[None]:
        """Names the phase; None: detects it. Returns a context manager whose exit restores the phase before."""
        before, self._phase = self._phase, name
        if self._plugin:
            self._plugin.phase(self._number_of_phase(name))
        return self._phase_until_exit(before)

    @contextlib.contextmanager
    def _phase_until_exit(self, before: str | None) -> Iterator[None]:
        try:
            yield
        finally:
            self.phase(before)

    def _number_of_phase(self, name: str | None) -> int:
        if not name:
            return 0
        if name in _records.KNOWN_PHASES:
            return _records.KNOWN_PHASES[name]
        if name not in self._phases:
            self._phases[name] = min(_abi.PHASE_FIRST_NAMED + len(self._phases), 255)
            self.core.push(_records.named_phase(self._phases[name], name))
        return self._phases[name]

    def joined_ranks(self, rank: int, ranks: int) -> None:
        """Handles that this process is one of so many ranks."""
        self.core.push(_records.rank(rank, ranks))

    def begins_to_wait_for_ranks(self, name: str) -> None:
        """Handles that a call on this thread waits for all ranks from now on."""
        self.core.push(_records.wait_for_ranks(self.core.text(name)))

    def all_ranks_came(self) -> None:
        """Handles that the innermost of such calls returns."""
        self.core.push(_records.end_of_span())

    def in_optimizer(self, inside: bool) -> None:
        """Handles that an optimizer's step begins (True) or ends on this thread."""
        if self._plugin:
            self._plugin.optimizer(int(inside))

    def backward_begins(self, roots: Iterable[Any]) -> None:
        """Handles the begin of a backward pass from these tensors on this thread."""
        if self._plugin:
            self._plugin.backward_begins()
        if graph := self._detailed_graph():
            graph.record_roots(roots)
            if self._is_due():
                graph.backward_begins()

    def backward_ends(self) -> None:
        """Handles the end of the backward pass."""
        if self._plugin:
            self._plugin.backward_ends()
        if self._graph and self._graph.is_in_backward():
            self._graph.backward_ends()

    def optimizer_stepped(self, optimizer: Any) -> None:
        """Handles the end of this optimizer's step."""
        graph = self._detailed_graph()
        if graph and self._is_due():
            graph.optimizer_stepped(optimizer)

    def _detailed_graph(self) -> Any:
        """Returns the graph; None if it is not recorded, in light steps, which have nothing new to report, and while
        the user has paused the details."""
        return self._graph if self._plugin and self._plugin.records_details() else None

    def module_changed(self, module: Any) -> None:
        """Handles that a module is new, or got a parameter or a buffer."""
        self._modules.changed(module)

    def module_got_part(self, module: Any, name: str, part: Any) -> None:
        """Handles that a module gets another one as its part."""
        self._modules.got_part(module, name, part)

    def out_of_memory(self) -> None:
        """Handles an out-of-memory error before the allocator raises it."""
        if self._graph:
            self._graph.out_of_memory()

    def scan_heap(self) -> None:
        """Scans the heap for referrers. Returns when the scan is complete."""
        if scans := self._graph or self._arrays:
            scans.scan()

    def last_scan(self, traceback: TracebackType | None = None) -> None:
        """Scans the heap for the last time. traceback: of the exception that ends the program; its frames are roots."""
        if scans := self._graph or self._arrays:
            scans.ends(traceback)

    def pause_driver(self) -> None:
        """Releases CUPTI until resume_driver()."""
        if self._driver:
            self._driver.pause()

    def resume_driver(self) -> None:
        """Subscribes to CUPTI again."""
        if self._driver:
            self._driver.resume()

    def _do_housekeeping(self, now: float) -> None:
        self._last_housekeeping = now
        with self._pauses.measure():
            self._name_new_modules()
            if self._driver:
                self._driver.retry_resume()
            if self._records_allocator and now >= self._next_check:
                self._check_pause = min(self._check_pause * CHECKS_SLOW_DOWN, CHECK_EVERY_S)
                self._next_check = now + self._check_pause
                self._plugin.check()

    def _name_new_modules(self) -> None:
        """Names the modules in new stacks, as far as they are alive."""
        for address in self._frames.new_modules() if self._frames else ():
            module = self._modules.at(address)
            if module is not None and self._modules.called(module):
                self.core.push(_records.module(address, self._modules.path(module)))
                weakref.finalize(module, self._frames.module_destroyed).atexit = False

    def end(self, how: int, sentence: str, wait_ms: int) -> bool:
        """Ends the recording and waits up to `wait_ms`. Returns True when the trace is complete.

        how: an _abi.END_ value.
        """
        if not self.running():
            return False
        _hooks.report_to(None)
        self._name_new_modules()
        self.last_scan()
        if scans := self._graph or self._arrays:
            scans.close()
        if self._records_allocator:
            self._plugin.check()
        if self._plugin:
            self._plugin.detach()
        if "nvml" in self.parts and (self._records_allocator or self._driver):
            self.core.sample_now(LAST_SAMPLE_MS)
        self._pauses.send()
        finished = self.core.stop(how, sentence, wait_ms)
        self.report_end()
        if self._driver:
            self._driver.pause()
        if self._fallback:
            failure = self._fallback.finish()
            if failure:
                _console.notify(failure)
        return finished
