# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The public functions. They act on the one recording of this process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import typing
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Callable

import tidemark._abi as _abi
from tidemark import _console, _core, _records
from tidemark._recording import PARTS, WAIT_FOR_TRACE_MS, Recording
from tidemark._sentence import Sentence

WAIT_AT_EXIT_MS = 10_000
DETAILS = ("adaptive", "full")
# A trace in a scratch folder may be lost with this process: a container removes its folders.
WAIT_FOR_MOVE_MS = 600_000

_current: Recording | None = None
_joining = threading.RLock()
_ending: tuple[int, str] | None = None  # (an _abi.END_ value, sentence) after an uncaught exception
_has_end_hooks = False
_core_of_process: _core.Core | None = None


def current() -> Recording | None:
    """Returns the running recording, or None. Joins a recording that CUDA's driver has started."""
    if _current is None and os.environ.get("TIDEMARK_RECORD") == "1" and _records_already():
        _join()
    return _current if _current is not None and _current.running() else None


def _join() -> None:
    with _joining:
        if _current is None:  # another thread may have joined it
            try:
                start_from_environment()
            except OSError as failure:
                _console.notify(Sentence("not recording: {failure}", failure=failure))


def _records_already() -> bool:
    """Returns whether this process records without a Recording: the driver part starts before any Python code can."""
    global _core_of_process
    try:
        _core_of_process = _core_of_process or _core.Core()
    except OSError:
        return False
    return _core_of_process.recording()


def record(
    path: str | os.PathLike[str] = "run.tide",
    *,
    parts: Iterable[str] = PARTS,
    detail: str = "adaptive",
    keep: str | int = "2GB",
    force: bool = False,
    command_line: bool = True,
    source: bool = True,
) -> contextlib.AbstractContextManager[Any]:
    """Starts recording GPU memory into the trace `path`. Returns a context manager whose exit ends the recording.

    path: the trace to write (.tide).
    parts: which of "stacks", "ops", "modules", "graph", "driver", "nvml" to record. Default: all. "graph" also records
    ops.
    detail: "adaptive" writes training steps that repeat an earlier one only as their number, times and peaks, and
    observes ops and the graph only until steps repeat. "full" writes every event.
    keep: the size below which to keep the trace, such as "500MB" or a number of bytes; the oldest details go first.
    "all": any size.
    force: True replaces an existing trace. False records nothing if the trace exists.
    command_line: False leaves the program's command line, which may contain secrets, out of the trace.
    source: False leaves the lines of source files, which reports show, out of the trace.

    Does nothing if a recording runs already. Raises ValueError for unknown parts or details. If the recording cannot
    start for another reason, prints one sentence on stderr, and the program continues without a recording.

        with tidemark.record("run.tide", parts=["stacks", "graph"]):
            train()
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise ValueError(f"tidemark.record: unknown parts {sorted(unknown)}; known are {', '.join(PARTS)}")
    if detail not in DETAILS:
        raise ValueError(f"tidemark.record: unknown detail {detail!r}; known are {', '.join(DETAILS)}")
    running = current()
    if running is not None:
        _console.notify(
            Sentence("already recording into {path}", path=running.output)
            if running.output
            else Sentence("already recording")
        )
        return contextlib.nullcontext(running)
    os.environ["TIDEMARK_KEEP"] = str(keep)
    if not command_line:
        os.environ["TIDEMARK_COMMAND_LINE"] = "0"
    if not source:
        os.environ["TIDEMARK_SOURCE"] = "0"
    try:
        return start(path, parts, detail, force)
    except OSError as failure:
        _console.notify(Sentence("not recording: {failure}", failure=failure))
        return contextlib.nullcontext()


def start(path: str | os.PathLike[str], parts: Iterable[str], detail: str, force: bool) -> Recording:
    """Starts the recording that the arguments describe, as of record(). Raises OSError if it cannot start."""
    os.environ["TIDEMARK_WITH"] = ",".join(parts)
    os.environ["TIDEMARK_DETAIL"] = detail
    return _begin(parts, lambda core: core.start(path, force))


def start_from_environment() -> Recording:
    """Starts the recording that the environment variables of `tidemark record` describe. Raises OSError if it cannot
    start."""
    parts = [part for part in os.environ.get("TIDEMARK_WITH", ",".join(PARTS)).split(",") if part]
    return _begin(parts, lambda core: core.start_from_environment())


def _begin(parts: Iterable[str], begin: Callable[[_core.Core], None]) -> Recording:
    global _current
    core = _core.Core()
    begin(core)
    if core.notice:
        _console.notify(core.notice)
    _install_end_hooks()
    _current = Recording(core, set(parts))
    _current.begin()
    return _current


def step() -> None:
    """Ends a training step. Without any call, each step of an optimizer ends a training step: of the first one, until
    another one steps alone. The first call discards those. Does nothing if no recording runs.

        for batch in loader:
            train_one(batch)
            tidemark.step()
    """
    if recording := current():
        recording.step_ended(_records.STEP_REPORTED)


def mark(name: str, value: Any = None) -> None:
    """Names this point in time. Does nothing if no recording runs.

    name: the text that Tidemark shows at this point.
    value: a number or a tensor with one element, in any unit. Tidemark shows it beside memory. None: no value.
    Reading the value of a CUDA tensor waits for the GPU.

    Raises what float(value) raises, such as TypeError or ValueError.

        tidemark.mark("loss", value=loss)
    """
    if recording := current():
        recording.mark(str(name), _number(value))


def _number(value: Any) -> float | None:
    """Returns float(value). Detaches tensors first, since float() of a tensor that requires a gradient warns."""
    return None if value is None else float(value.detach() if hasattr(value, "detach") else value)


def referrers() -> None:
    """Scans Python's heap and records what retains each tensor that is on a GPU or belongs to the autograd graph.

    Returns when the scan is complete: after some tens of milliseconds in a program with PyTorch, later with millions of
    Python objects. Raises nothing. Does nothing if no recording runs or if the part "graph" is not recorded.

        tidemark.referrers()  # before memory is freed that should have been freed earlier
    """
    if recording := current():
        recording.scan_heap()


def phase(name: str | None) -> contextlib.AbstractContextManager[None]:
    """Names the phase of the program from here on. Returns a context manager whose exit restores the phase before.

    name: "forward", "backward", "optimizer", "eval" or any other name. None: Tidemark detects the phase again.

    Applies to all threads. Raises nothing. Does nothing if no recording runs.

        with tidemark.phase("eval"):
            evaluate(model)
    """
    recording = current()
    return recording.phase(name) if recording is not None else contextlib.nullcontext()


def stop() -> bool:
    """Ends the recording and waits up to 60 seconds for the trace. Returns True if the trace is complete, and False if
    it is not or if no recording runs. Raises nothing.

        if tidemark.stop():
            upload("run.tide")
    """
    recording = current()
    if recording is None:
        _report_early_end()
        return False
    return recording.end(_abi.END_STOPPED, "", WAIT_FOR_TRACE_MS)


def _report_early_end() -> None:
    """Reports why a recording ended while the program continued: the disk may be full."""
    if _current is not None and _current.is_of_this_process():
        _current.report_end()


def _install_end_hooks() -> None:
    """Installs the hooks that end the recording with the interpreter. At an uncaught exception and at os._exit(), scans
    the heap while the variables of functions are alive."""
    global _has_end_hooks
    if _has_end_hooks:
        return
    _has_end_hooks = True
    previous = sys.excepthook

    def on_uncaught(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        global _ending
        _ending = _ending_by(value)
        if recording := current():
            recording.last_scan(traceback)
        previous(kind, value, traceback)

    leave = os._exit

    def scan_and_leave(status: int) -> typing.NoReturn:
        try:
            if recording := current():
                recording.last_scan()
        finally:
            leave(status)

    sys.excepthook = on_uncaught
    os._exit = scan_and_leave
    atexit.register(end_at_exit)


def _ending_by(failure: BaseException) -> tuple[int, str]:
    if isinstance(failure, KeyboardInterrupt):
        return _abi.END_INTERRUPTED, "KeyboardInterrupt"
    return _abi.END_EXCEPTION, f"{type(failure).__name__}: {failure}"[:2000]


def end_at_exit() -> None:
    """Ends the recording, if one runs, because the program ends."""
    if recording := current():
        failure = getattr(sys, "last_value", None)  # of a recording that was joined after it
        how, sentence = _ending or ((_abi.END_EXITED, "") if failure is None else _ending_by(failure))
        # `tidemark record` waits for the trace itself. Without it, this process must wait.
        wait_ms = WAIT_FOR_MOVE_MS if recording.moves_at_end else WAIT_AT_EXIT_MS
        recording.end(how, sentence, 0 if os.environ.get("TIDEMARK_SESSION") else wait_ms)
    else:
        _report_early_end()
