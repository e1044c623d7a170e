# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The plugins that came with this package, one per build of torch, and the proof that one works here."""

from __future__ import annotations

import os
import subprocess
import sys

from tidemark import _core
from tidemark._compiler import TorchBuild

_LONGEST_TRIAL_S = 120.0
_PROVEN = "the plugin works"


def file_name(build: TorchBuild) -> str:
    """Returns the name of the plugin for a build: of a release and a commit, for any CUDA and any Python."""
    abi = "" if build.has_cxx11_abi else "-old-abi"
    return f"plugin-{build.version.split('+')[0]}-{build.git_version[:12]}{abi}.so"


def find(build: TorchBuild) -> str | None:
    """Returns the path of the plugin for exactly this build, or None."""
    path = os.path.join(_core.home(), "plugins", file_name(build))
    return path if build.git_version and os.path.exists(path) else None


def try_out(path: str) -> str:
    """Records a small program in another process, which may crash. Returns why the plugin cannot be used, or ""."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = f"import sys; sys.path.insert(0, {own!r}); from tidemark import _trial; _trial.run(sys.argv[1])"
    environment = _core.environment_of_helper() | {"TIDEMARK_HOME": _core.home(), "CUDA_VISIBLE_DEVICES": ""}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, path],
            capture_output=True,
            text=True,
            env=environment,
            timeout=_LONGEST_TRIAL_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return str(failure)
    if done.returncode == 0 and done.stdout.strip() == _PROVEN:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"a trial ended with status {done.returncode}"
