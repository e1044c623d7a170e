# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Makes the archives from the wheels: unpacked anywhere, their programs start without root and without Python's pip.

    SOURCE_DATE_EPOCH=... make_archives.py FOLDER QT-WHEEL

FOLDER has both wheels of Tidemark and gets tidemark-recorder-VERSION-linux-MACHINE.tar.gz and
tidemark-viewer-VERSION-linux-MACHINE.tar.gz; QT-WHEEL is a wheel of PySide6-Essentials. Both archives unpack into one
folder. The viewer brings Qt's libraries (viewer_libraries.py). Needs patchelf, and Debian 12 with the libraries that Qt
needs. Equal wheels and equal Debian packages give equal archives.
"""

import gzip
import os
import pathlib
import sys
import tarfile
import tempfile
import zipfile

import viewer_libraries


def _only(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"expected exactly one {pattern} in {folder}; make it with ./bootstrap wheel")
    return found[0]


def unpack(wheel: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpacks a wheel with the permissions of its files."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = archive.extract(member, folder)
            if not member.is_dir():
                os.chmod(path, 0o755 if member.external_attr >> 16 & 0o100 else 0o644)


def _pack(folder: pathlib.Path, top: str, output: pathlib.Path) -> None:
    """Packs a folder under the name `top`: the same bytes on each machine, whoever calls."""
    time = int(os.environ["SOURCE_DATE_EPOCH"])

    def as_released(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = time
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    # The name of the file and the time would be in gzip's header.
    with (
        open(output, "wb") as file,
        gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path in [folder, *sorted(folder.rglob("*"))]:
            name = pathlib.PurePath(top) / path.relative_to(folder)
            archive.add(path, str(name), recursive=False, filter=as_released)
    print(f"{output.name}: {output.stat().st_size:,} bytes")


def _recorder(wheel: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    unpack(wheel, work)
    return work / "tidemark_gpu"


def _viewer(wheel: pathlib.Path, qt_wheel: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    unpack(wheel, work)
    unpack(qt_wheel, work)
    folder = work / "tidemark_gpu_gui"
    (folder / "__init__.py").unlink()  # starts the window in a Python environment
    viewer_libraries.add(folder, work)
    return folder


def main() -> None:
    packages, qt_wheel = map(pathlib.Path, sys.argv[1:])
    for part, pattern in {"recorder": "tidemark_gpu-*.whl", "viewer": "tidemark_gpu_gui-*.whl"}.items():
        wheel = _only(packages, pattern)
        version, machine = wheel.stem.split("-")[1], wheel.stem.split("-")[-1].split("_", 3)[-1]
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work)
            folder = _recorder(wheel, path) if part == "recorder" else _viewer(wheel, qt_wheel, path)
            _pack(folder, f"tidemark-{version}", packages / f"tidemark-{part}-{version}-linux-{machine}.tar.gz")


if __name__ == "__main__":
    main()
