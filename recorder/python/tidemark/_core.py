# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Loads the recorder's libraries from TIDEMARK_HOME; starts and ends recordings through libtidemark_core.so."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import tidemark._abi as _abi
from tidemark import _trust
from tidemark._sentence import Sentence


def home() -> str:
    """Returns the folder with the recorder's parts: TIDEMARK_HOME, or the folder that contains this package."""
    return os.environ.get("TIDEMARK_HOME") or _installation()


def _installation() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _check_home() -> None:
    """Raises OSError if another user could change the parts in TIDEMARK_HOME. Whoever can change the folder of this
    package has changed it already."""
    if os.path.realpath(home()) != os.path.realpath(_installation()):
        _trust.check_folder(home())


def part(name: str) -> str:
    """Returns the path of a part of the recorder. Raises OSError if it is missing or another user could change it."""
    path = os.path.join(home(), name)
    if not os.path.exists(path):
        raise OSError(
            Sentence("{path} is missing. Set TIDEMARK_HOME to the folder lib/tidemark of an installation.", path=path)
        )
    _check_home()
    return path


def command() -> str | None:
    """Returns the path of the `tidemark` command that belongs to this package, or None."""
    for place in ("../../bin/tidemark", "../../cli/tidemark"):
        path = os.path.normpath(os.path.join(home(), place))
        if os.access(path, os.X_OK):
            return path
    return None


def needed_command() -> str:
    """Returns the path of the `tidemark` command that belongs to this package. Raises OSError if there is none."""
    path = command()
    if path is None:
        raise OSError(Sentence("the `tidemark` command is missing from the installation; reinstall Tidemark"))
    return path


def environment_of_helper() -> dict[str, str]:
    """Returns the environment for a process that helps the recorder and that the recorder must not record."""
    return {k: v for k, v in os.environ.items() if not k.startswith("TIDEMARK_") and k != "PYTHONPATH"}


def declare(library: Any, functions: dict[str, tuple[Any, list[Any]]]) -> Any:
    """Sets the result and argument types of a loaded library's functions, as listed in _abi. Returns the library."""
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_MOST_BLOCKS = 1024
_MOST_DEVICES = 64


class Core:
    """libtidemark_core.so. The constructor raises OSError when it is missing or of another version."""

    def __init__(self) -> None:
        path = part("libtidemark_core.so")
        self._library = declare(ctypes.CDLL(path), _abi.CORE_FUNCTIONS)
        self.table = self._library.tidemark_core(_abi.CORE_VERSION)
        if not self.table:
            raise OSError(Sentence("{path} belongs to another version of this package. Reinstall Tidemark.", path=path))
        self._api = self.table.contents
        self._blocks = (ctypes.c_uint64 * _MOST_BLOCKS)()
        self.notice = ""  # a sentence for the user about the recording that was started
        self.scans_wanted = self._library.tidemark_scans_wanted  # number of heap scans that the recorder requested
        self.full_scans_wanted = self._library.tidemark_full_scans_wanted  # that the user requested by a command
        self.full_scans_made = self._library.tidemark_full_scans_made  # tells the recorder the number of the last one
        self.serve_scans = self._library.tidemark_serve_scans  # tells the recorder whether this process makes those
        self.details_paused = self._library.tidemark_details_paused  # by the user

    def start(self, output: str | os.PathLike[str], force: bool) -> None:
        """Starts a recording. Raises OSError with the cause and the fix."""
        session = os.environ.get("TIDEMARK_SESSION", "")
        options = _abi.Options(
            recorder=os.path.join(home(), "tidemark-recorder").encode(),
            output=os.fsencode(os.path.abspath(output)),
            session=session.encode() or None,
            ring_capacity=int(os.environ.get("TIDEMARK_RING_RECORDS", "0") or 0),
            force=int(force),
        )
        self._raise_unless(self._library.tidemark_start, ctypes.byref(options))

    def is_selected(self) -> bool:
        """Returns False if `tidemark record` was told to leave out the rank or the node of this process."""
        return bool(self._library.tidemark_is_selected())

    def start_from_environment(self) -> None:
        """Starts the recording that the TIDEMARK_ variables describe. Raises OSError."""
        self._raise_unless(self._library.tidemark_start_from_environment)

    def _raise_unless(self, function: Any, *arguments: Any) -> None:
        buffer = ctypes.create_string_buffer(2048)
        has_started = function(*arguments, buffer, len(buffer))
        sentence = buffer.value.decode(errors="replace")
        if not has_started:
            raise OSError(sentence or Sentence("TIDEMARK_RECORD requests no recording"))
        self.notice = sentence

    def stop(self, how: int, sentence: str, wait_ms: int) -> bool:
        """Ends the recording and waits up to `wait_ms` for the recorder. Returns True when the trace is finished."""
        return bool(self._library.tidemark_stop(how, sentence.encode() or None, wait_ms))

    def sample_now(self, wait_ms: int) -> bool:
        """Asks the recorder for an NVML sample. Returns True if it was taken within `wait_ms`."""
        return bool(self._api.sample_now(wait_ms))

    def growing_blocks(self) -> list[int]:
        """Returns the addresses of blocks of the allocation sites that grow."""
        return self._blocks[: self._library.tidemark_growing_blocks(self._blocks, len(self._blocks))]

    def recording(self) -> bool:
        """Returns whether this process records now."""
        return bool(self._api.recording())

    def driver_owns_events(self) -> bool:
        """Returns whether driver allocations are the events of all devices."""
        return bool(self._api.driver_owns_events())

    def driver_events(self) -> list[int]:
        """Returns the number of driver events so far, per device."""
        return [self._api.driver_events(device) for device in range(_MOST_DEVICES)]

    def output(self) -> str:
        """Returns the path of the trace; "" before the first recording, and before the trace has a name: under
        `tidemark record`, the process must use the GPU first."""
        return os.fsdecode(self._library.tidemark_output())

    def end_notice(self) -> str:
        """Returns what the user should know at the end of the recording, such as why it failed, or ""."""
        return bytes(self._library.tidemark_end_notice()).decode(errors="replace")

    def push(self, message: tuple[Any, bytes]) -> None:
        """Sends one message of _records. Does nothing when no recording runs."""
        record, payload = message
        ring = self._api.this_thread()
        if ring:
            self._api.push(ring, ctypes.byref(record), payload, len(payload))

    def text(self, text: str) -> int:
        """Returns the id of a text in the namespace of this thread; 0: no recording runs."""
        ring, encoded = self._api.this_thread(), text.encode()
        return self._api.text(ring, encoded, len(encoded)) if ring else 0
