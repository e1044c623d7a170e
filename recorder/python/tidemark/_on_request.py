# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Starts a recording in the middle of a program, on request of `tidemark resume` or `tidemark attach`."""

from __future__ import annotations

import os
import sys
from typing import Any

from tidemark import _api, _recording


def record(request: dict[str, Any]) -> dict[str, Any]:
    """Starts a recording and returns the answer to the request. Called on a thread of its own.

    request: "output" is the trace to write, with "force", "parts" and "detail" as of tidemark.record(). Without an
    output, the TIDEMARK_ variables of `tidemark record --paused` describe the recording.
    """
    running = _api.current()
    if running is not None:
        return {"ok": False, "error": "recorded", "output": running.output}
    if "torch" in sys.modules:
        import torch  # noqa: F401  waits while another thread imports it
    try:
        output = request.get("output")
        recording = _from_environment() if output is None else _into(str(output), request)
    except OSError as failure:
        return {"ok": False, "error": "failed", "details": str(failure)}
    return {"ok": True, "output": recording.output, "gaps": recording.gaps, "notice": recording.core.notice}


def _from_environment() -> _recording.Recording:
    os.environ["TIDEMARK_RECORD"] = "1"  # also for child processes that start from now on
    try:
        return _api.start_from_environment()
    except OSError:
        os.environ["TIDEMARK_RECORD"] = "paused"
        raise


def _into(output: str, request: dict[str, Any]) -> _recording.Recording:
    parts = [part for part in request.get("parts", _recording.PARTS) if part in _recording.PARTS]
    detail = request.get("detail", "full")
    return _api.start(output, parts, detail if detail in _api.DETAILS else "full", bool(request.get("force")))
