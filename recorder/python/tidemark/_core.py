"""The recorder's libraries, loaded from TIDEMARK_HOME: libtidemark_core.so and what works beside it."""

import ctypes
import os

CORE_VERSION = 1


class _Options(ctypes.Structure):
    _fields_ = [
        ("recorder", ctypes.c_char_p),
        ("output", ctypes.c_char_p),
        ("session", ctypes.c_char_p),
        ("ring_capacity", ctypes.c_uint64),
        ("replace", ctypes.c_uint32),
    ]


class _Api(ctypes.Structure):
    """struct tidemark_api of recorder/core/core.h."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("recording", ctypes.PYFUNCTYPE(ctypes.c_int)),
        ("this_thread", ctypes.PYFUNCTYPE(ctypes.c_void_p)),
        ("push", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32)),
        ("text", ctypes.PYFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)),
        ("stack", ctypes.PYFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)),
        ("sample_now", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32)),
        ("set_stack_walker", ctypes.PYFUNCTYPE(None, ctypes.c_void_p)),
    ]


def home():
    """The folder with the recorder's parts: TIDEMARK_HOME, or the one this package lies in."""
    beside = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.environ.get("TIDEMARK_HOME") or beside


def command():
    """The `tidemark` command that belongs to this package, or None."""
    for place in ("../../bin/tidemark", "../../cli/tidemark"):
        path = os.path.normpath(os.path.join(home(), place))
        if os.access(path, os.X_OK):
            return path
    return None


class Core:
    """libtidemark_core.so: starts and ends recordings, takes records."""

    def __init__(self):
        path = os.path.join(home(), "libtidemark_core.so")
        if not os.path.exists(path):
            raise OSError(f"{path} is missing. Set TIDEMARK_HOME to the folder lib/tidemark of an installation.")
        self._library = ctypes.CDLL(path)
        self._library.tidemark_core.restype = ctypes.POINTER(_Api)
        self._library.tidemark_output.restype = ctypes.c_char_p
        self.table = self._library.tidemark_core(CORE_VERSION)
        if not self.table:
            raise OSError(f"{path} belongs to another version of this package. Reinstall Tidemark.")
        self._api = self.table.contents

    def start(self, output, replace):
        """Starts a recording. Raises OSError with the cause and the remedy."""
        session = os.environ.get("TIDEMARK_SESSION", "")
        options = _Options(
            os.path.join(home(), "tidemark-recorder").encode(),
            os.fsencode(os.path.abspath(output)),
            session.encode() or None,
            int(os.environ.get("TIDEMARK_RING_RECORDS", "0") or 0),
            int(replace),
        )
        self._raise_unless(self._library.tidemark_start, ctypes.byref(options))

    def start_from_environment(self):
        self._raise_unless(self._library.tidemark_start_from_environment)

    @staticmethod
    def _raise_unless(function, *arguments):
        error = ctypes.create_string_buffer(1024)
        if not function(*arguments, error, len(error)):
            raise OSError(error.value.decode(errors="replace") or "no recording was asked for")

    def stop(self, how, sentence, wait_ms):
        """True when the trace is finished."""
        return bool(self._library.tidemark_stop(how, sentence.encode() or None, wait_ms))

    def sample_now(self, wait_ms):
        """Asks the recorder for an NVML sample. True if it came within the time."""
        return bool(self._api.sample_now(wait_ms))

    def recording(self):
        return bool(self._api.recording())

    def output(self):
        return os.fsdecode(self._library.tidemark_output())

    def push(self, message):
        """Sends one message of _records. Nothing happens when no recording runs."""
        record, payload = message
        ring = self._api.this_thread()
        if ring:
            buffer = ctypes.create_string_buffer(record, len(record))
            self._api.push(ring, ctypes.addressof(buffer), payload, len(payload))
