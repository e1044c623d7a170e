"""One recording of this process: what record(), step(), mark(), phase() and stop() act on."""

import atexit
import contextlib
import os
import sys
import time
import weakref

from tidemark import _core, _records

PARTS = ("stacks", "ops", "modules", "graph", "driver", "nvml")
CHECK_EVERY_S = 10.0
WAIT_FOR_TRACE_MS = 60_000
WAIT_AT_EXIT_MS = 10_000
LAST_SAMPLE_MS = 1_000  # NVML itself takes some 400 ms to start

_current = None
_ending = None  # (how, sentence) once an uncaught exception has been seen


def say(sentence):
    print(f"tidemark: {sentence}", file=sys.stderr, flush=True)


def current():
    """The running recording, or None."""
    return _current if _current is not None and _current.running() else None


def record(path="run.tide", *, parts=PARTS, replace=False):
    """Starts recording into `path` (bytes of GPU memory, from now on) and returns a context manager that ends it.

    parts: which of "stacks", "ops", "modules", "graph", "driver", "nvml" to record ("graph" records ops, too).
    replace: an existing trace is replaced.
    Raises ValueError for unknown parts. Whatever else goes wrong is said in one sentence on stderr, and the program
    goes on without a recording.
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise ValueError(f"tidemark.record: unknown parts {sorted(unknown)}; known are {', '.join(PARTS)}")
    if current() is not None:
        say(f"already recording into {current().output}")
        return contextlib.nullcontext(current())
    os.environ["TIDEMARK_WITH"] = ",".join(parts)
    return _begin(parts, lambda core: core.start(path, replace))


def begin_from_environment():
    """What `tidemark record` asked for, once this process uses the GPU."""
    parts = [part for part in os.environ.get("TIDEMARK_WITH", ",".join(PARTS)).split(",") if part]
    return _begin(parts, lambda core: core.start_from_environment())


def _begin(parts, start):
    global _current
    try:
        core = _core.Core()
        start(core)
    except OSError as failure:
        say(f"not recording: {failure}")
        return contextlib.nullcontext()
    _current = Recording(core, set(parts))
    _current.begin()
    return _current


def step():
    """A training step ended here. Once told, steps are no longer taken from the optimizer."""
    if current() is not None:
        current().step_ended(_records.STEP_REPORTED)


def mark(name, value=None):
    """Names this moment. `value`: a number shown beside memory; of a CUDA tensor, reading it waits for the GPU."""
    if current() is not None:
        current().mark(str(name), _number(value))


def _number(value):
    """A tensor that needs a gradient would warn."""
    return None if value is None else float(value.detach() if hasattr(value, "detach") else value)


def referrers():
    """Looks now for who holds tensors of the autograd graph and of the GPU, and writes it into the trace.

    Waits until it is done: some tens of milliseconds in a program with PyTorch, more with millions of Python objects.
    """
    if current() is not None:
        current().referrers()


def phase(name):
    """The program's phase from here on: "forward", "eval" or a name of your own; None: told by Tidemark again.

    As `with tidemark.phase("eval"):` the phase before comes back at the end.
    """
    return current().phase(name) if current() is not None else contextlib.nullcontext()


def stop():
    """Ends the recording. The trace is complete when this returns; True if it is."""
    recording = current()
    return recording is not None and recording.end(_records.END_STOPPED, "", WAIT_FOR_TRACE_MS)


class Recording:
    """Thread: created and ended by one thread; step, mark and phase may be called from any."""

    def __init__(self, core, parts):
        self.core = core
        self.output = core.output()
        self.parts = parts
        self._pid = os.getpid()
        self._plugin = None
        self._plugin_failure = OSError("the recorder's plugin was not loaded")
        self._listening = False  # to the allocator
        self._driver = None
        self._frames = None
        self._fallback = None
        self._graph = None
        self._module_type = None
        self._named = set()  # addresses of modules that were named and live
        self._phases = {}
        self._phase = None
        self._steps = {_records.STEP_SEEN: 0, _records.STEP_REPORTED: 0}
        self._last_check = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.end(_records.END_STOPPED, "", WAIT_FOR_TRACE_MS)
        else:
            self.last_look(traceback)
            self.end(_records.END_EXCEPTION, f"{kind.__name__}: {value}", WAIT_FOR_TRACE_MS)

    def running(self):
        return self._pid == os.getpid() and self.core.recording()

    def begin(self):
        _watch_the_end()
        self.core.push(_records.meta("python_version", sys.version.split()[0]))
        if "driver" in self.parts:
            from tidemark import _driver

            _driver.listen_from_the_start()
        from tidemark import _startup

        _startup.when_torch_is_imported(self._meet_torch)

    def _meet_torch(self, torch):
        from tidemark import _hooks, _startup

        _hooks.install(torch)
        self._attach_quietly(self._attach_to_torch, torch)
        _startup.when_cuda_is_ready(torch, lambda: self._attach_quietly(self._attach_to_cuda, torch))

    def _attach_quietly(self, attach, torch):
        if not self.running():
            return
        try:
            attach(torch)
        except Exception as failure:  # nothing of ours may end the program
            self.lose("attach_failed", f"recording is incomplete: {failure}", failure)

    def _attach_to_torch(self, torch):
        """What needs no GPU: a graph exists on the CPU as well."""
        self.core.push(_records.meta("torch_version", torch.__version__))
        self._prepare_stacks(torch)
        self._load_plugin(torch)
        if self._plugin and "graph" in self.parts:
            self._follow_graph(torch)

    def _attach_to_cuda(self, torch):
        from tidemark import _hooks

        self._report_devices(torch)
        self.core.sample_now(0)
        if "driver" in self.parts:
            self._listen_to_driver()
        self._listen_to_allocator(torch)
        if self._graph:
            _hooks.hook_out_of_memory(torch)

    def _report_devices(self, torch):
        for index in range(torch.cuda.device_count()):
            seen = torch.cuda.get_device_properties(index)
            pci = ""
            if hasattr(seen, "pci_bus_id"):
                pci = f"{seen.pci_domain_id:08X}:{seen.pci_bus_id:02X}:{seen.pci_device_id:02X}.0"
            uuid = f"GPU-{seen.uuid}" if hasattr(seen, "uuid") else ""
            self.core.push(_records.device(index, seen.total_memory, seen.name, pci, uuid))

    def _prepare_stacks(self, torch):
        if "stacks" not in self.parts:
            return
        from tidemark import _frames

        try:
            self._frames = _frames.Frames()
        except OSError as failure:
            self.lose("stacks_failed", f"Python stacks are not recorded: {failure}", failure)
            return
        self._module_type = torch.nn.Module
        module_call = getattr(torch.nn.Module, "_wrapped_call_impl", None) if "modules" in self.parts else None
        self._frames.walk_for(self.core.table, module_call)

    def _listen_to_driver(self):
        from tidemark import _driver

        try:
            self._driver = _driver.Driver()
        except OSError as failure:
            self.lose("driver_failed", f"driver calls are not recorded: {failure}", failure)
            return
        if not self._driver.listening:
            say(self._driver.sentence)

    def _load_plugin(self, torch):
        from tidemark import _plugin

        try:
            plugin = _plugin.Plugin(torch)
            plugin.attach(torch, self.core.table, self._parts_of_plugin(_plugin))
            plugin.phase(self._number_of_phase(self._phase))
            self._plugin = plugin
        except OSError as failure:
            self._plugin_failure = failure
            if "graph" in self.parts:
                self.lose("graph_failed", f"the autograd graph is not recorded: {failure}", failure)

    def _parts_of_plugin(self, plugin):
        parts = plugin.OPS if "ops" in self.parts or "graph" in self.parts else 0
        return parts | plugin.GRAPH if "graph" in self.parts else parts

    def _listen_to_allocator(self, torch):
        from tidemark import _allocator, _plugin

        try:
            if self._plugin is None:
                raise self._plugin_failure
            _allocator.raise_unless_native(torch)
            self._plugin.attach(torch, self.core.table, self._parts_of_plugin(_plugin) | _plugin.ALLOCATOR)
            self._listening = True
        except OSError as failure:
            self._fall_back(torch, failure)

    def _follow_graph(self, torch):
        from tidemark import _graph

        try:
            self._graph = _graph.Graph(torch, self._plugin, self.core, self.lose)
        except OSError as failure:
            self.lose("referrers_failed", f"referrers of tensors are not recorded: {failure}", failure)

    def _fall_back(self, torch, failure):
        from tidemark import _fallback

        stem = self.output[: -len(".tide")] if self.output.endswith(".tide") else self.output
        try:
            self._fallback = _fallback.Fallback(torch, stem + ".history.tide")
            self.lose(
                "allocator_fallback",
                f"{failure}. PyTorch's own memory history is recorded instead, into {stem}.history.tide",
                f"{failure} (into {stem}.history.tide)",
            )
        except Exception as second:
            details = f"{failure}; nor does PyTorch's own history work: {second}"
            self.lose("allocator_failed", f"allocator events are not recorded: {details}", details)

    def lose(self, reason, sentence, details):
        """Says once what is not recorded: on stderr as a sentence, in the trace as a reason with details."""
        say(sentence)
        self.core.push(_records.loss(reason, details))

    def mark(self, name, value):
        self._name_new_modules()
        self.core.push(_records.mark(name, value, self._plugin.sequences() if self._listening else []))
        if self._graph:
            self._graph.marked(name)

    def step_ended(self, source):
        self.core.push(_records.step(source, self._steps[source]))
        self._steps[source] += 1
        self._now_and_then()
        if self._graph:
            self._graph.step_ended()

    def phase(self, name):
        before, self._phase = self._phase, name
        if self._plugin:
            self._plugin.phase(self._number_of_phase(name))
        return self._phase_until_exit(before)

    @contextlib.contextmanager
    def _phase_until_exit(self, before):
        try:
            yield
        finally:
            self.phase(before)

    def _number_of_phase(self, name):
        if not name:
            return 0
        if name in _records.KNOWN_PHASES:
            return _records.KNOWN_PHASES[name]
        if name not in self._phases:
            self._phases[name] = min(_records.PHASE_FIRST_NAMED + len(self._phases), 255)
            self.core.push(_records.named_phase(self._phases[name], name))
        return self._phases[name]

    def in_optimizer(self, inside):
        if self._plugin:
            self._plugin.optimizer(int(inside))

    def backward_begins(self, roots):
        if self._plugin:
            self._plugin.backward_begins()
        if self._graph:
            self._graph.backward_begins(roots)

    def backward_ends(self):
        if self._graph:
            self._graph.backward_ends()

    def optimizer_stepped(self, optimizer):
        if self._graph:
            self._graph.optimizer_stepped(optimizer)

    def modules_changed(self):
        if self._graph:
            self._graph.modules_changed()

    def out_of_memory(self):
        if self._graph:
            self._graph.out_of_memory()

    def referrers(self):
        if self._graph:
            self._graph.asked()

    def last_look(self, traceback=None):
        """At who holds what, while the variables of an exception's frames still live."""
        if self._graph:
            self._graph.ends(traceback)

    def pause_driver(self):
        """CUPTI is somebody else's until return_driver()."""
        if self._driver:
            self._driver.pause()

    def return_driver(self):
        if self._driver:
            self._driver.resume()

    def _now_and_then(self):
        self._name_new_modules()
        if self._driver:
            self._driver.retake()
        if self._listening and time.monotonic() - self._last_check > CHECK_EVERY_S:
            self._last_check = time.monotonic()
            self._plugin.check()

    def _name_new_modules(self):
        if self._frames is None:
            return
        addresses = [address for address in self._frames.new_modules() if address not in self._named]
        if addresses:
            from tidemark import _modules

            self.modules_changed()
            for module, path in _modules.name_modules(addresses, self._module_type):
                self.core.push(_records.module(id(module), path))
                self._named.add(id(module))
                weakref.finalize(module, self._module_destroyed, id(module)).atexit = False

    def _module_destroyed(self, address):
        self._named.discard(address)
        self._frames.module_destroyed()

    def end(self, how, sentence, wait_ms):
        """True when the trace is finished."""
        if not self.running():
            return False
        self._name_new_modules()
        self.last_look()
        if self._graph:
            self._graph.close()
        if self._listening:
            self._plugin.check()
        if self._plugin:
            self._plugin.detach()
        if "nvml" in self.parts and self._listening:
            self.core.sample_now(LAST_SAMPLE_MS)
        finished = self.core.stop(how, sentence, wait_ms)
        if self._driver:
            self._driver.pause()
        if self._fallback:
            failure = self._fallback.finish()
            if failure:
                say(failure)
        return finished


def _watch_the_end():
    """Remembers the exception that ends the program, looks at what its frames held, and ends the recording when the
    interpreter ends."""
    if getattr(_watch_the_end, "done", False):
        return
    _watch_the_end.done = True
    previous = sys.excepthook

    def remember(kind, value, traceback):
        global _ending
        if issubclass(kind, KeyboardInterrupt):
            _ending = (_records.END_INTERRUPTED, "KeyboardInterrupt")
        else:
            _ending = (_records.END_EXCEPTION, f"{kind.__name__}: {value}"[:2000])
        if current() is not None:
            current().last_look(traceback)
        previous(kind, value, traceback)

    sys.excepthook = remember
    atexit.register(_end_at_exit)


def _end_at_exit():
    if current() is not None:
        how, sentence = _ending or (_records.END_EXITED, "")
        # Whoever started the session waits for the trace; otherwise nobody else does.
        current().end(how, sentence, 0 if os.environ.get("TIDEMARK_SESSION") else WAIT_AT_EXIT_MS)
