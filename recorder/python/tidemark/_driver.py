# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Controls the driver part, which records CUDA driver calls through CUPTI. CUPTI allows one subscriber, so the part
pauses on request."""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
import sys

import tidemark._abi as _abi
from tidemark import _core
from tidemark._targets import Place

_LIBRARY = "libtidemark_driver.so"


def load_with_cuda() -> None:
    """Sets the variables by which the CUDA driver loads the driver part. No effect once the driver has started."""
    path = os.path.join(_core.home(), _LIBRARY)
    if os.path.exists(path):
        os.environ.setdefault("CUDA_INJECTION64_PATH", path)
        os.environ.setdefault("TEARDOWN_CUPTI", "1")
    select_cupti()


def select_cupti() -> None:
    """Sets TIDEMARK_CUPTI to the CUPTI library of torch, because one process must not load two copies of CUPTI; without
    torch, to that of another package."""
    if "TIDEMARK_CUPTI" in os.environ:
        return
    for site in _folders_of_packages():
        for pattern in ("nvidia/cu1*/lib/libcupti.so.1*", "nvidia/cuda_cupti/lib/libcupti.so.1*"):
            for path in sorted(glob.glob(os.path.join(site, pattern))):
                os.environ["TIDEMARK_CUPTI"] = path
                return


def _folders_of_packages() -> list[str]:
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.origin is not None:
        return [os.path.dirname(os.path.dirname(spec.origin))]
    return [entry for entry in sys.path if entry.endswith("-packages")]


def cuda_is_loaded() -> bool:
    """Returns whether this process has loaded the CUDA driver. The driver part cannot load with it
    then."""
    try:
        ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return True


class Memory:
    """The memory that the driver part knows. The constructor raises OSError when the part is missing."""

    def __init__(self) -> None:
        # Keeps the interpreter lock: no array may be freed while a scan asks for its memory.
        path = os.path.join(_core.home(), _LIBRARY)
        self._library = _core.declare(ctypes.PyDLL(path), _abi.DRIVER_FUNCTIONS)

    def place_of(self, address: int) -> Place | None:
        """Returns the place of the memory that contains an address; None: it is no event of the running recording."""
        found = _abi.DriverPlace()
        if not self._library.tidemark_driver_place_of(address, ctypes.byref(found)):
            return None
        return Place(0, found.address, found.sequence, found.device)


class Driver:
    """The loaded driver part. The constructor raises OSError when it is missing.

    `listening`: whether it records driver calls. `sentence`: the reason if it does not."""

    def __init__(self) -> None:
        self._library = _core.declare(ctypes.CDLL(os.path.join(_core.home(), _LIBRARY)), _abi.DRIVER_FUNCTIONS)
        sentence = ctypes.create_string_buffer(1024)
        self._pauses = 0
        self.listening = bool(self._library.tidemark_driver_attach(sentence, len(sentence)))
        self.sentence = sentence.value.decode(errors="replace")

    def pause(self) -> None:
        """Unsubscribes from CUPTI. Pauses nest: each needs its own resume()."""
        self._pauses += 1
        if self._pauses == 1 and self.listening:
            self._library.tidemark_driver_pause()

    def resume(self) -> None:
        """Ends one pause()."""
        self._pauses = max(0, self._pauses - 1)
        self.retry_resume()

    def retry_resume(self) -> None:
        """Subscribes to CUPTI again unless a pause remains. Also called at each step, because the profiler may
        release CUPTI some time after it ended."""
        if self._pauses == 0 and self.listening:
            self._library.tidemark_driver_resume()
