# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts the window of the wheel, with the Qt of PySide6."""

import ctypes
import os
import sys

# Libraries that Qt gets from the system, and the Debian and Ubuntu packages that have them.
_OF_SYSTEM = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
# Those of the X server's part of Qt.
_OF_X = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def _missing(libraries: dict[str, str]) -> dict[str, str]:
    missing = {}
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing[library] = package
    return missing


def _needed() -> dict[str, str]:
    platform = os.environ.get("QT_QPA_PLATFORM", "xcb").split(":")[0]
    is_drawn_on_x = platform == "xcb" and not ("WAYLAND_DISPLAY" in os.environ and "DISPLAY" not in os.environ)
    return _OF_SYSTEM | (_OF_X if is_drawn_on_x and "--render" not in sys.argv else {})


def main() -> None:
    """Replaces this process by the window. Exits with 4 if libraries of the system are missing."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tidemark-gui")
    missing = _missing(_needed())
    if missing:
        print(
            f"tidemark-gui: the window needs libraries of the system that are missing: {', '.join(missing)}. On Debian "
            f"and Ubuntu: apt-get install {' '.join(missing.values())}",
            file=sys.stderr,
        )
        sys.exit(4)
    # The window starts recordings with the command that is installed beside it.
    os.environ["PATH"] = os.pathsep.join(
        [os.environ.get("PATH", os.defpath), os.path.dirname(os.path.abspath(sys.argv[0]))]
    )
    os.execv(program, [program, *sys.argv[1:]])
