# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Steers the recording of this program: pause, resume, snapshot. The command `tidemark` asks the recorder process."""

from __future__ import annotations

import os

from tidemark import _api, _console, _core
from tidemark._sentence import Sentence

_LONGEST_S = 120


def pause() -> bool:
    """Pauses the details of the recording: stacks, ops, the graph and heap scans. Allocations are still recorded, so
    counters and lifetimes stay exact; what is allocated meanwhile has no origin.

    Returns True if details are paused now. Returns False if no recording runs, or after one sentence on stderr if the
    recorder does not answer. Raises nothing.

        tidemark.pause()
        warm_up()
        tidemark.resume()
    """
    return _ask("pause")


def resume() -> bool:
    """Ends pause(). Returns as pause() does."""
    return _ask("resume")


def snapshot(path: str | os.PathLike[str], *, force: bool = False) -> bool:
    """Writes a trace of everything recorded so far, with a heap scan, while the recording goes on.

    path: the trace to write (.tide). force: True replaces an existing trace.

    Returns True when the trace is complete; else as pause() does. Raises nothing. Takes some seconds for a long
    recording.

        if tidemark.snapshot("now.tide"):
            print(tidemark.open("now.tide").summary)
    """
    return _ask("snapshot", "-o", os.fspath(path), *(["--force"] if force else []))


def _ask(request: str, *arguments: str) -> bool:
    import subprocess

    if _api.current() is None:
        return False
    environment = _core.environment_of_helper()
    if folder := os.environ.get("TIDEMARK_RUNTIME"):
        environment["TIDEMARK_RUNTIME"] = folder
    try:
        answer = subprocess.run(
            [_core.needed_command(), request, str(os.getpid()), *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as failure:
        _console.notify(Sentence("{request}: {failure}", request=request, failure=failure))
        return False
    if answer.returncode != 0:
        _console.notify(answer.stderr.decode(errors="replace").strip().removeprefix("tidemark: "))
    return answer.returncode == 0
