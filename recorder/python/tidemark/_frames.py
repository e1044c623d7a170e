# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records Python stacks. libtidemark_frames.so checks the frame layout, then reads without the interpreter lock."""

from __future__ import annotations

import ctypes
import os
import sys
from types import FrameType
from typing import Any

import tidemark._abi as _abi
from tidemark import _core, _introspect


def _known_frames(innermost: FrameType, count: int) -> tuple[Any, int]:
    frames: list[_abi.KnownFrame] = []
    frame: FrameType | None = innermost
    while frame is not None and len(frames) < count:
        code = frame.f_code
        function = _introspect.name_of_function(code).encode()
        frames.append(_abi.KnownFrame(id(code), function, code.co_filename.encode(), frame.f_lineno))
        frame = frame.f_back
    return (_abi.KnownFrame * len(frames))(*frames), len(frames)


class Frames:
    """The loaded library. The constructor raises OSError if the stacks of this Python cannot be read."""

    def __init__(self) -> None:
        path = os.path.join(_core.home(), "libtidemark_frames.so")
        self._library = _core.declare(ctypes.PyDLL(path), _abi.WALKER_FUNCTIONS)
        self._error = ctypes.create_string_buffer(512)
        if not self._prepare(*sys.version_info[:2]):
            raise OSError(self._error.value.decode())
        self._addresses = (ctypes.c_uint64 * 4096)()

    def _prepare(self, major: int, minor: int) -> int:
        # Stays on one line: the line number of the frame must not change before the call.
        return self._library.tidemark_frames_prepare(major, minor, *_known_frames(sys._getframe(), 8), self._error, 512)

    def walk_for(self, core_table: Any, module_call: Any) -> None:
        """Installs the walker in core. module_call: the function that calls a torch.nn.Module, or None."""
        address = 0 if module_call is None else id(module_call.__code__)
        own_folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
        self._library.tidemark_frames_walk_for(core_table, address, os.fsencode(own_folder))

    def module_destroyed(self) -> None:
        """Reports that a named module was destroyed, because another one may get its address."""
        self._library.tidemark_frames_module_destroyed()

    def new_modules(self) -> list[int]:
        """Returns the addresses of modules that appeared in stacks since the last call."""
        count = self._library.tidemark_frames_new_modules(self._addresses, len(self._addresses))
        return self._addresses[:count]
