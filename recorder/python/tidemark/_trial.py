# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Tries a plugin on a small program on the CPU: places of tensors, nodes of the graph, saved tensors. Runs in a process
of its own."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from tidemark import _abi, _api, _build, _prebuilt


def run(path: str) -> None:
    """Prints that the plugin works, or raises."""
    _build.built_for = lambda torch: path
    import torch

    with tempfile.TemporaryDirectory() as folder:
        _api.record(os.path.join(folder, "trial.tide"), parts=["ops", "graph"])
        try:
            recording = _api._current
            if recording is None or recording._plugin is None:
                raise SystemExit("no recording began")
            _check(torch, recording._plugin)
        finally:
            _api.stop()  # before its folder is removed, which would be said last
    print(_prebuilt._PROVEN)


def _check(torch: Any, plugin: Any) -> None:
    weight = torch.ones(3, 5, requires_grad=True)
    before = plugin.live_nodes()[0]
    result = torch.tanh(weight * 2.0)
    place = plugin.identify(result._cdata)
    seen = (place.address, place.storage_bytes, place.bytes, place.device)
    if seen != (result.data_ptr(), 60, 60, _abi.NO_DEVICE) or place.node == 0:
        raise SystemExit(f"a tensor is seen as {place}")
    alive = plugin.live_nodes()[0] - before
    if alive != 2:
        raise SystemExit(f"{alive} nodes of the graph are seen instead of 2")
    result.sum().backward()
    del result
    left = plugin.live_nodes()[0] - before
    if left != 0 or plugin.gradient_of(weight._cdata) == 0:
        raise SystemExit(f"{left} nodes of the graph are seen after they were freed")
