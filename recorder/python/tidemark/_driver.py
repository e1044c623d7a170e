"""The driver part (CUPTI): listening to what the CUDA driver is asked for, shared with the user's own profiler."""

import ctypes
import glob
import importlib.util
import os

from tidemark import _core

_LIBRARY = "libtidemark_driver.so"


def listen_from_the_start():
    """Lets the CUDA driver load our part when it starts; effective only before that."""
    path = os.path.join(_core.home(), _LIBRARY)
    if os.path.exists(path):
        os.environ.setdefault("CUDA_INJECTION64_PATH", path)
        os.environ.setdefault("TEARDOWN_CUPTI", "1")
    name_cupti()


def name_cupti():
    """Two copies of CUPTI must not meet in one process: the one torch brings is named for our part."""
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
    """The loaded driver part. Raises OSError when it is missing; what it cannot do it says in `sentence`."""

    def __init__(self):
        self._library = ctypes.CDLL(os.path.join(_core.home(), _LIBRARY))
        self._sentence = ctypes.create_string_buffer(1024)
        self._paused = 0
        self.listening = bool(self._library.tidemark_driver_attach(self._sentence, len(self._sentence)))
        self.sentence = self._sentence.value.decode(errors="replace")

    def pause(self):
        """Gives CUPTI to somebody else until everybody who borrowed it has given it back."""
        self._paused += 1
        if self._paused == 1 and self.listening:
            self._library.tidemark_driver_release()

    def resume(self):
        self._paused = max(0, self._paused - 1)
        self.retake()

    def retake(self):
        """The borrower may hold on to it a little longer: called again at steps until it works."""
        if self._paused == 0 and self.listening:
            self._library.tidemark_driver_retake()
