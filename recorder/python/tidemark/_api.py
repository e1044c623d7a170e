# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The functions that users call, and the one recording of this process that they act on."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Callable

import tidemark._abi as _abi
from tidemark import _console, _core, _records
from tidemark._recording import PARTS, WAIT_FOR_TRACE_MS, Recording

WAIT_AT_EXIT_MS = 10_000

_current: Recording | None = None
_ending: tuple[int, str] | None = None  # (how, sentence) once an uncaught exception was seen
_watches_the_end = False


def current() -> Recording | None:
    """Returns the running recording, or None."""
    return _current if _current is not None and _current.running() else None


def record(
    path: str | os.PathLike[str] = "run.tide", *, parts: Iterable[str] = PARTS, replace: bool = False
) -> contextlib.AbstractContextManager[Any]:
    """Starts recording GPU memory into the trace `path`. Returns a context manager whose exit ends the recording.

    parts: which of "stacks", "ops", "modules", "graph", "driver", "nvml" to record ("graph" also records ops).
    replace: True replaces an existing trace; False leaves it alone and records nothing.
    Raises ValueError for unknown parts. Any other failure is one sentence on stderr, and the program continues
    without a recording. Does nothing when a recording runs already.
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise ValueError(f"tidemark.record: unknown parts {sorted(unknown)}; known are {', '.join(PARTS)}")
    running = current()
    if running is not None:
        _console.notify(f"already recording into {running.output}")
        return contextlib.nullcontext(running)
    os.environ["TIDEMARK_WITH"] = ",".join(parts)
    return _begin(parts, lambda core: core.start(path, replace))


def begin_from_environment() -> None:
    """Starts the recording that `tidemark record` asks for through the environment."""
    parts = [part for part in os.environ.get("TIDEMARK_WITH", ",".join(PARTS)).split(",") if part]
    _begin(parts, lambda core: core.start_from_environment())


def _begin(parts: Iterable[str], start: Callable[[_core.Core], None]) -> contextlib.AbstractContextManager[Any]:
    global _current
    try:
        core = _core.Core()
        start(core)
    except OSError as failure:
        _console.notify(f"not recording: {failure}")
        return contextlib.nullcontext()
    _watch_the_end()
    _current = Recording(core, set(parts))
    _current.begin()
    return _current


def step() -> None:
    """Ends a training step. After the first call, optimizer steps no longer count as training steps."""
    if recording := current():
        recording.step_ended(_records.STEP_REPORTED)


def mark(name: str, value: Any = None) -> None:
    """Names this point in time.

    value: a number or a tensor of one element, shown beside memory; None: no value. Reading the value of a CUDA tensor
    waits for the GPU. Raises what float(value) raises.
    """
    if recording := current():
        recording.mark(str(name), _number(value))


def _number(value: Any) -> float | None:
    """Detaches first: float() of a tensor that requires a gradient warns."""
    return None if value is None else float(value.detach() if hasattr(value, "detach") else value)


def referrers() -> None:
    """Scans Python's heap now and records what retains each tensor of the autograd graph and of the GPU.

    Waits for the scan: some tens of milliseconds in a program with PyTorch, more with millions of Python objects.
    """
    if recording := current():
        recording.scan_heap()


def phase(name: str | None) -> contextlib.AbstractContextManager[None]:
    """Names what the program does from here on: "forward", "eval" or a name of yours.

    None: Tidemark detects the phase again. Returns a context manager whose exit restores the phase before.
    """
    recording = current()
    return recording.phase(name) if recording is not None else contextlib.nullcontext()


def stop() -> bool:
    """Ends the recording. Waits up to 60 seconds for the trace, and returns True when it is complete."""
    recording = current()
    return recording is not None and recording.end(_abi.END_STOPPED, "", WAIT_FOR_TRACE_MS)


def _watch_the_end() -> None:
    """Ends the recording when the interpreter ends. Remembers an uncaught exception and scans what its frames hold."""
    global _watches_the_end
    if _watches_the_end:
        return
    _watches_the_end = True
    previous = sys.excepthook

    def remember(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        global _ending
        if issubclass(kind, KeyboardInterrupt):
            _ending = (_abi.END_INTERRUPTED, "KeyboardInterrupt")
        else:
            _ending = (_abi.END_EXCEPTION, f"{kind.__name__}: {value}"[:2000])
        if recording := current():
            recording.last_scan(traceback)
        previous(kind, value, traceback)

    sys.excepthook = remember
    atexit.register(_end_at_exit)


def _end_at_exit() -> None:
    if recording := current():
        how, sentence = _ending or (_abi.END_EXITED, "")
        # `tidemark record` waits for the trace itself; without it, nobody else does.
        recording.end(how, sentence, 0 if os.environ.get("TIDEMARK_SESSION") else WAIT_AT_EXIT_MS)
