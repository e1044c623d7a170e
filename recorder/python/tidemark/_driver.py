# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The driver part (CUPTI): records calls of the CUDA driver. CUPTI allows one subscriber, so it pauses on request."""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os

import tidemark._abi as _abi
from tidemark import _core

_LIBRARY = "libtidemark_driver.so"


def load_with_cuda() -> None:
    """Lets the CUDA driver load the driver part when it starts. Has no effect once the driver has started."""
    path = os.path.join(_core.home(), _LIBRARY)
    if os.path.exists(path):
        os.environ.setdefault("CUDA_INJECTION64_PATH", path)
        os.environ.setdefault("TEARDOWN_CUPTI", "1")
    select_cupti()


def select_cupti() -> None:
    """Sets TIDEMARK_CUPTI to the copy that torch brings: one process must not load two copies of CUPTI."""
    if "TIDEMARK_CUPTI" in os.environ:
        return
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return
    site = os.path.dirname(os.path.dirname(spec.origin))
    for pattern in ("nvidia/cu1*/lib/libcupti.so.1*", "nvidia/cuda_cupti/lib/libcupti.so.1*"):
        for path in sorted(glob.glob(os.path.join(site, pattern))):
            os.environ["TIDEMARK_CUPTI"] = path
            return


class Driver:
    """The loaded driver part. The constructor raises OSError when it is missing.

    `listening`: whether it records driver calls. `sentence`: why not."""

    def __init__(self) -> None:
        self._library = _core.declare(ctypes.CDLL(os.path.join(_core.home(), _LIBRARY)), _abi.DRIVER_FUNCTIONS)
        sentence = ctypes.create_string_buffer(1024)
        self._pauses = 0
        self.listening = bool(self._library.tidemark_driver_attach(sentence, len(sentence)))
        self.sentence = sentence.value.decode(errors="replace")

    def pause(self) -> None:
        """Releases CUPTI. Pauses nest: as many calls of resume() end them."""
        self._pauses += 1
        if self._pauses == 1 and self.listening:
            self._library.tidemark_driver_pause()

    def resume(self) -> None:
        """Ends one pause()."""
        self._pauses = max(0, self._pauses - 1)
        self.retry_resume()

    def retry_resume(self) -> None:
        """Subscribes to CUPTI again. Called at steps as well: the profiler may release CUPTI later than it ends."""
        if self._pauses == 0 and self.listening:
            self._library.tidemark_driver_resume()
