# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""What this Python has for recordings. `tidemark doctor` runs it in a process of its own."""

from __future__ import annotations

import os
import sys

from tidemark import _build, _compiler, _cuda_headers, _frames, _prebuilt
from tidemark._compiler import TorchBuild


def of_this_python(with_trial: bool) -> dict[str, str]:
    """Returns the facts. Imports torch for a trial only. A fact is missing, or "", if there is no such thing.

    environment: "conda", "venv" or "system", in the folder `prefix`. stacks: why Python stacks cannot be recorded.
    plugin_state: "brought" by this package, "built" (in the cache), "to_build", "unsupported", or "unsafe": then
    `plugin` says why.
    trial: why a trial of the plugin failed.
    """
    facts = {"environment": _environment(), "prefix": sys.prefix, "stacks": _why_no_stacks()}
    build = _compiler.installed_build()
    if build is not None:
        facts |= {"torch": build.version, "cuda": build.cuda, "torch_lib": os.path.join(build.folder, "lib")}
        facts |= _facts_of_plugin(build)
        if with_trial:
            facts["trial"] = _why_trial_fails()
    return facts


def _environment() -> str:
    if os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        return "conda"
    return "system" if sys.prefix == sys.base_prefix else "venv"


def _why_no_stacks() -> str:
    try:
        _frames.Frames()
    except OSError as failure:
        return str(failure)
    return ""


def _facts_of_plugin(build: TorchBuild) -> dict[str, str]:
    if build.minor < _build.KNOWN_TORCH[0]:
        return {"plugin_state": "unsupported"}
    if brought := _prebuilt.find(build):
        return {"plugin_state": "brought", "plugin": brought}
    try:
        if built := _build.found_in_cache(build):
            return {"plugin_state": "built", "plugin": built}
    except OSError as failure:  # another user may change the cache
        return {"plugin_state": "unsafe", "plugin": str(failure)}
    headers = _cuda_headers.find(os.path.dirname(build.folder), build.cuda)
    return {
        "plugin_state": "to_build",
        "compiler": _compiler.command(),
        "cuda_headers": ", ".join(headers),
        "cuda_headers_fix": _cuda_headers.fix(build.cuda),
    }


def _why_trial_fails() -> str:
    """Builds the plugin if that is necessary, and records a small program on the CPU with it."""
    import torch

    try:
        return _prebuilt.try_out(_build.built_for(torch))
    except OSError as failure:
        return str(failure)
