# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Runs `tidemark check`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from tidemark import _core

_WRONG_USAGE, _LIMIT_EXCEEDED = 2, 5  # see storage/base/exit_status.h


def check(trace: str | os.PathLike[str], limits: Sequence[str]) -> Any:
    """Returns the JSON of `tidemark check`. limits: options, such as "--max-peak", "2GiB". Raises ValueError if a limit
    is none, and OSError if the trace cannot be checked, with the command's sentence."""
    done = subprocess.run(
        [_core.needed_command(), "check", os.fspath(trace), *limits, "--format", "json"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=_core.environment_of_helper(),
    )
    sentence = done.stderr.strip().removeprefix("tidemark: ")
    if done.returncode == _WRONG_USAGE:
        raise ValueError(sentence)
    if done.returncode not in (0, _LIMIT_EXCEEDED):
        raise OSError(sentence or f"tidemark ended with status {done.returncode}")
    return json.loads(done.stdout)
