# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Brings the libraries of the window into its archive.

lib/tidemark-gui/qt       Qt's libraries and plugins that the window uses, unchanged, from PySide6-Essentials
lib/tidemark-gui/system   what Qt needs of a desktop, from Debian: used only where the system lacks it
"""

import pathlib
import shutil
import subprocess

_QT = "lib/tidemark-gui/qt"
_SYSTEM = "lib/tidemark-gui/system"
# The display, the icons, text from keyboards, dialogs of the desktop. The window draws without OpenGL.
_PLUGINS = (
    "iconengines/libqsvgicon.so",
    "imageformats/libqsvg.so",
    "platforminputcontexts/libcomposeplatforminputcontextplugin.so",
    "platforminputcontexts/libibusplatforminputcontextplugin.so",
    "platforms/libqoffscreen.so",
    "platforms/libqwayland.so",
    "platforms/libqxcb.so",
    "platformthemes/libqxdgdesktopportal.so",
    "wayland-decoration-client/libadwaita.so",
    "wayland-decoration-client/libbradient.so",
    "wayland-shell-integration/libxdg-shell.so",
)
_TRANSLATIONS = ("qtbase_zh_CN.qm",)
_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf")
_FOLDER_OF_FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
_QCUSTOMPLOT = "libQCustomPlotQt6.so.2.1"  # the window's wheel has it, with a name of its own
# Every system with a desktop or a package manager has these; they must fit its C library.
_ALWAYS_OF_SYSTEM = (
    "ld-linux",
    "libc.so",
    "libdl.so",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "librt.so",
    "libstdc++.so",
)
_SYSTEM_FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib")

_ABOUT = """\
The window runs on libraries of others:

lib/tidemark-gui/qt: Qt {qt}, under the GNU Lesser General Public License 3 (LGPL-3.txt here), unchanged from
PySide6-Essentials {qt} of PyPI. Its sources: https://download.qt.io/official_releases/qt/ and
https://code.qt.io/cgit/pyside/pyside-setup.git. Another build of the same version may take the place of these files.
libicu*: ICU, under the Unicode License, also from there. Its sources: https://github.com/unicode-org/icu

lib/tidemark-gui/qt/lib/libQCustomPlotQt6*, lib/tidemark-gui/system and share/tidemark/fonts: from Debian 12.
QCustomPlot is under the GPL-3.0-or-later; the others are there for systems that lack them. The files here have the
copyright of each package. Their sources, by these names and versions: https://snapshot.debian.org

"""


def _output_of(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _needed(library: pathlib.Path) -> list[str]:
    return _output_of("patchelf", "--print-needed", library).split()


def _libraries_of_system() -> dict[str, pathlib.Path]:
    """Returns this machine's libraries of its own kind, by name."""
    found: dict[str, pathlib.Path] = {}
    for line in _output_of("/sbin/ldconfig", "-p").splitlines():
        name, _, path = line.strip().partition(" => ")
        if path and "x86-64" in name:
            found.setdefault(name.split()[0], pathlib.Path(path))
    return found


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source.resolve(), target)
    target.chmod(0o644)


def _add_qt(folder: pathlib.Path, window: pathlib.Path, unpacked: pathlib.Path) -> list[str]:
    """Copies the parts of Qt that the window and its plugins use. Returns the names of others that they need."""
    qt = unpacked / "PySide6" / "Qt"
    for name in [*(f"plugins/{plugin}" for plugin in _PLUGINS), *(f"translations/{file}" for file in _TRANSLATIONS)]:
        _copy(qt / name, folder / _QT / name)
    others: set[str] = set()
    bundled = {path.name: path for path in (unpacked / "tidemark_gpu_gui.libs").glob("*.so*")}
    waiting = [window, *(qt / "plugins" / plugin for plugin in _PLUGINS)]
    while waiting:
        for name in _needed(waiting.pop()):
            source, target = bundled.get(name, qt / "lib" / name), folder / _QT / "lib" / name
            if not source.exists():
                others.add(name)
            elif not target.exists():
                _copy(source, target)
                waiting.append(source)
    for name in bundled:
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", folder / _QT / "lib" / name], check=True)
    return sorted(others)


def _add_system(folder: pathlib.Path, names: list[str]) -> dict[str, pathlib.Path]:
    """Copies libraries of Debian with what they need. Returns their places here."""
    places = _libraries_of_system()
    added: dict[str, pathlib.Path] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in added or name.startswith(_ALWAYS_OF_SYSTEM):
            continue
        if name not in places:
            raise SystemExit(f"{name} is not installed here, so the archive cannot bring it")
        added[name] = places[name]
        _copy(places[name], folder / _SYSTEM / name)
        waiting += _needed(places[name])
    return added


def _package_of(path: pathlib.Path) -> str:
    """Returns the Debian package of a file. dpkg knows it by one of its names, with or without /usr."""
    for place in (path, path.resolve(), pathlib.Path(str(path.resolve()).removeprefix("/usr"))):
        done = subprocess.run(["dpkg", "-S", place], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"{path} belongs to no Debian package, so its license is unknown")


def _add_licenses(folder: pathlib.Path, qt_version: str, files: list[pathlib.Path]) -> None:
    documents = folder / "share/doc/tidemark-viewer/libraries"
    _copy(pathlib.Path("/usr/share/common-licenses/LGPL-3"), documents / "LGPL-3.txt")
    lines = []
    for package in sorted({_package_of(path) for path in files}):
        _copy(pathlib.Path("/usr/share/doc") / package / "copyright", documents / f"{package}.copyright")
        lines.append(_output_of("dpkg-query", "--show", "--showformat=${source:Package} ${source:Version}\n", package))
    text = _ABOUT.format(qt=qt_version) + "".join(sorted(set(lines)))
    (documents / "README").write_text(text)


def add(folder: pathlib.Path, unpacked: pathlib.Path) -> None:
    """Makes the installation of the window in `folder` self-contained, with Qt from the wheels in `unpacked`."""
    window = folder / "bin" / "tidemark-gui"
    system = _add_system(folder, _add_qt(folder, window, unpacked))
    fonts = [_FOLDER_OF_FONTS / name for name in _FONTS]
    for font in [*fonts, pathlib.Path(__file__).with_name("fonts.conf")]:
        _copy(font, folder / "share/tidemark/fonts" / font.name)
    (folder / "bin" / "qt.conf").write_text(f"[Paths]\nPrefix = ../{_QT}\n")
    # The program itself names all libraries, so that they are found in its search path: first those of the system.
    # Qt's own files stay as they are.
    path = ":".join((f"$ORIGIN/../{_QT}/lib", *_SYSTEM_FOLDERS, f"$ORIGIN/../{_SYSTEM}"))
    needs = [word for name in sorted(system) for word in ("--add-needed", name)]
    subprocess.run(["patchelf", "--set-rpath", path, *needs, window], check=True)
    (about,) = unpacked.glob("pyside6_essentials-*.dist-info")
    debian = [*system.values(), *fonts, _libraries_of_system()[_QCUSTOMPLOT]]
    _add_licenses(folder, about.name.split("-")[1].removesuffix(".dist"), debian)
