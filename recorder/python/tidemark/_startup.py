# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Starts the recording of `tidemark record` when the program first uses the GPU."""

import os
from typing import Any

from tidemark import _torch_import


def arm() -> None:
    """Prepares the start. Called when the interpreter starts; does nothing unless TIDEMARK_RECORD is 1."""
    if os.environ.get("TIDEMARK_RECORD") != "1":
        return
    _report("hook")
    if "driver" in os.environ.get("TIDEMARK_WITH", "driver").split(","):
        from tidemark import _driver

        _driver.select_cupti()
    _torch_import.when_imported(_wait_for_cuda)


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
    _report("torch")
    _torch_import.when_cuda_is_ready(torch, _begin)


def _begin() -> None:
    from tidemark import _api, _console

    _report("cuda")
    try:
        if _api.current() is None:
            _api.start_from_environment()
    except Exception as failure:  # no failure of the recorder may end the program
        _console.notify(f"not recording: {failure}")
