# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Starts the recording of `tidemark record` when the program first uses the GPU."""

import os
import threading
from typing import Any

from tidemark import _array_imports, _core, _poller, _torch_import
from tidemark._sentence import Sentence


def arm() -> None:
    """Prepares the start. Called when the interpreter starts; does nothing unless TIDEMARK_RECORD is 1, and the user
    wants a trace of this process."""
    if os.environ.get("TIDEMARK_RECORD") != "1" or not _is_selected():
        return
    _report("hook")
    if "driver" in os.environ.get("TIDEMARK_WITH", "driver").split(","):
        from tidemark import _driver

        _driver.select_cupti()
    if "stacks" in os.environ.get("TIDEMARK_WITH", "stacks").split(","):
        _walk_stacks()
    # Libraries register functions with atexit that free all their memory. What is registered here runs before.
    register = getattr(threading, "_register_atexit", None)
    if register is not None:
        register(_end_before_cleanup)
    _torch_import.when_imported(_wait_for_cuda)
    _array_imports.when_imported(_wait_for_driver)


def _is_selected() -> bool:
    """Returns False only if the rank or the node of this process is to be left out. Never raises."""
    try:
        return _core.Core().is_selected()
    except OSError:
        return True  # what is wrong is reported when the recording starts


def _walk_stacks() -> None:
    """Installs the stack walker before the recording starts, because nothing tells when a program without torch uses
    the GPU. Never raises."""
    from tidemark import _frames

    try:
        _frames.Frames().walk_for(_core.Core().table, None)
    except OSError:
        pass  # a recording of torch reports it; other programs get native stacks


def _end_before_cleanup() -> None:
    """Ends a recording of driver allocations when the program's code has run, unless other threads still run. Never
    raises."""
    from tidemark import _api

    me = threading.current_thread()
    try:
        recording = _api.current()
        others = any(not thread.daemon and thread is not me for thread in threading.enumerate())
        if recording is not None and recording.core.driver_owns_events() and not others:
            _api.end_at_exit()
    except Exception:  # no failure of the recorder may end the program; the recording ends with the process
        pass


def _report(progress: str) -> None:
    """Notes in the session folder how far this process got: a recording without events then has a reason. Never
    raises."""
    try:
        path = os.path.join(os.environ["TIDEMARK_SESSION"], f"{os.getpid()}.python")
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (KeyError, OSError):
        return
    try:
        os.write(file, f"{progress}\n".encode())
    except OSError:
        pass
    finally:
        os.close(file)


def _wait_for_cuda(torch: Any) -> None:
    def begin() -> None:
        _report("cuda")
        _begin()

    _report("torch")
    _torch_import.when_cuda_is_ready(torch, begin)


def _wait_for_driver() -> None:
    """Joins the recording that the driver part starts when a program without PyTorch uses the GPU: heap scans need
    Python. PyTorch's own start comes first."""

    def join_when_due() -> None:
        if core.driver_owns_events() and not _torch_import.is_under_way():
            poller.stop()
            _begin()

    core = _core.Core()
    poller = _poller.Poller(join_when_due)


def _begin() -> None:
    from tidemark import _api, _console

    try:
        if _api.current() is None and _is_selected():  # programs set their rank after they have started, too
            _api.start_from_environment()
    except Exception as failure:  # no failure of the recorder may end the program
        _console.notify(Sentence("not recording: {failure}", failure=failure))
