"""Python stacks: libtidemark_frames.so reads them without the interpreter's lock once it has proved that it can."""

import ctypes
import os
import sys

from tidemark import _core


class _KnownFrame(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint64),
        ("function", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int),
    ]


def _known_frames(frame, count):
    frames = []
    while frame is not None and len(frames) < count:
        code = frame.f_code
        frames.append(_KnownFrame(id(code), code.co_qualname.encode(), code.co_filename.encode(), frame.f_lineno))
        frame = frame.f_back
    return (_KnownFrame * len(frames))(*frames), len(frames)


class Frames:
    """Raises OSError with a sentence where the stacks of this Python cannot be read."""

    def __init__(self):
        if sys.version_info < (3, 11):
            raise OSError(f"the frames of Python {sys.version_info[0]}.{sys.version_info[1]} cannot be read (3.11 can)")
        self._library = ctypes.PyDLL(os.path.join(_core.home(), "libtidemark_frames.so"))
        self._error = ctypes.create_string_buffer(512)
        if not self._prepare(*sys.version_info[:2]):
            raise OSError(self._error.value.decode())
        self._buffer = (ctypes.c_uint64 * 4096)()

    def _prepare(self, major, minor):
        # One line: what the frame says of itself must hold during the call.
        return self._library.tidemark_frames_prepare(major, minor, *_known_frames(sys._getframe(), 8), self._error, 512)

    def walk_for(self, core_table, module_call):
        address = 0 if module_call is None else id(module_call.__code__)
        own_folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
        self._library.tidemark_frames_walk_for(core_table, ctypes.c_uint64(address), os.fsencode(own_folder))

    def module_destroyed(self):
        """A named module is gone: another may take its place in memory."""
        self._library.tidemark_frames_module_destroyed()

    def new_modules(self):
        """Addresses of modules that stacks ran through since the last call."""
        count = self._library.tidemark_frames_new_modules(self._buffer, len(self._buffer))
        return self._buffer[:count]
