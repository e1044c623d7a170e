# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Builds the recorder's plugin for releases of torch that PyPI serves, without installing them.

    TIDEMARK_HOME=PREFIX/lib/tidemark python3 build_plugins.py OUTPUT [2.11.0 2.12 ...]

Reads only the headers of each wheel, by HTTP ranges: about 20 MB of 900. Plugins that OUTPUT has already, of the same
sources, are not built again, so a run that was interrupted goes on. Without versions, builds for all releases that this
Tidemark knows; a new minor is one more entry of KNOWN_TORCH in recorder/python/tidemark/_build.py. Releases before 2.7
get two plugins: PyPI's are built with the old ABI of std::string, others, such as conda's, with the new one.

Needs g++. Exits with 1 if a plugin could not be built, and says why.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))

import torch_releases
from torch_releases import is_one_of

from tidemark import _build, _compiler, _prebuilt
from tidemark._compiler import TorchBuild

_WANTED = ("torch/include/", "torch/version.py", "torch/share/cmake/Torch/TorchConfig.cmake")
_LIBRARIES = ("c10", "c10_cuda", "torch_cpu")
_HEADERS_OF_CUDA = {
    "12": ("nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12"),
    "13": ("nvidia-cuda-runtime", "nvidia-cuda-crt"),
}
_LAST_WITH_OLD_ABI = (2, 6)
_BLOCK = 4 << 20


class _RemoteFile(io.RawIOBase):
    """A file of a web server that answers requests for ranges."""

    def __init__(self, url: str, size: int) -> None:
        super().__init__()
        self._url, self._size, self._position = url, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def readinto(self, buffer) -> int:
        end = min(self._position + len(buffer), self._size)
        if self._position >= end:
            return 0
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={self._position}-{end - 1}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            if answer.status != 206:
                raise OSError(f"{self._url} is not served in ranges")
            part = answer.read()
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)


def _extract(file: dict, folder: str, wanted: tuple[str, ...]) -> None:
    remote = io.BufferedReader(_RemoteFile(file["url"], file["size"]), _BLOCK)
    with zipfile.ZipFile(remote) as wheel:
        for member in sorted(wheel.infolist(), key=lambda member: member.header_offset):
            if member.filename.startswith(wanted):
                wheel.extract(member, folder)


def _releases() -> dict[str, dict]:
    """Returns a wheel of each release that this Tidemark knows, oldest first."""
    known = [".".join(map(str, minor)) for minor in _build.KNOWN_TORCH]
    wheels = torch_releases.wheels().items()
    return {release: list(by_python.values())[-1] for release, by_python in wheels if is_one_of(release, known)}


def _get_cuda_headers(cuda: str, folder: str) -> None:
    """Brings the headers of a CUDA version into `folder`/include."""
    major, minor = cuda.split(".")[:2]
    for project in _HEADERS_OF_CUDA[major]:
        wheels = [
            file
            for file in torch_releases.files_of(project)
            if file["filename"].split("-")[1].startswith(f"{major}.{minor}.") and "x86_64.whl" in file["filename"]
        ]
        with tempfile.TemporaryDirectory() as unpacked:
            _extract(wheels[-1], unpacked, ("nvidia/",))
            for root, folders, _ in os.walk(unpacked):
                if "include" in folders:
                    subprocess.run(["cp", "-r", os.path.join(root, "include"), folder], check=True)


def _make_stub(name: str, folder: str) -> None:
    """Makes a library without functions: the plugin gets them from the torch that loads it."""
    library = f"lib{name}.so"
    output = os.path.join(folder, library)
    command = ["g++", "-shared", f"-Wl,-soname,{library}", "-o", output, "-x", "c++", "/dev/null"]
    subprocess.run(command, check=True)


def _unpack(file: dict, folder: str) -> list[TorchBuild]:
    """Brings what the plugin needs of a wheel into a folder. Returns the builds to compile for."""
    _extract(file, folder, _WANTED)
    package = os.path.join(folder, "torch")
    about: dict = {}
    with open(os.path.join(package, "version.py")) as text:
        exec(text.read(), about)
    with open(os.path.join(package, "share/cmake/Torch/TorchConfig.cmake")) as text:
        has_new_abi = "_GLIBCXX_USE_CXX11_ABI=0" not in text.read()
    _get_cuda_headers(about["cuda"], folder)
    os.environ["CUDA_HOME"] = folder
    os.makedirs(os.path.join(package, "lib"))
    for name in _LIBRARIES:
        _make_stub(name, os.path.join(package, "lib"))
    build = TorchBuild(about["__version__"], about["git_version"], about["cuda"], has_new_abi, package)
    twins = [build._replace(has_cxx11_abi=abi) for abi in (False, True)]
    return twins if build.minor <= _LAST_WITH_OLD_ABI else [build]


def _build_release(version: str, file: dict, output: str) -> str:
    """Returns "", or why the plugins of a release could not be built."""
    with tempfile.TemporaryDirectory() as folder:
        for build in _unpack(file, folder):
            with tempfile.TemporaryDirectory(dir=output) as objects:  # of the same file system, for os.replace()
                library, messages = _compiler.compile_plugin(build, objects, ())
                if messages:
                    return messages
                subprocess.run(["strip", "--strip-unneeded", library], check=True)
                target = os.path.join(output, _prebuilt.file_name(build))
                os.replace(library, target)
                print(f"{version}: {os.path.basename(target)}, {os.path.getsize(target) >> 10} KiB", flush=True)
    with open(_mark(version, output), "w") as mark:
        mark.write(_compiler.digest_of_sources())
    return ""


def _mark(version: str, output: str) -> str:
    """Returns the file that says of which sources the plugins of a release are."""
    return os.path.join(output, f"{version}.sources")


def _is_built(version: str, output: str) -> bool:
    try:
        with open(_mark(version, output)) as mark:
            return mark.read() == _compiler.digest_of_sources()
    except FileNotFoundError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="folder for the plugins")
    parser.add_argument("version", nargs="*", help='releases or minors, such as "2.11.0" or "2.12"')
    given = parser.parse_args()
    os.makedirs(given.output, exist_ok=True)
    releases = _releases()
    unknown = [name for name in given.version if not any(is_one_of(release, [name]) for release in releases)]
    if unknown:
        sys.exit(f"PyPI has no torch {', '.join(unknown)} that this Tidemark knows; it has {', '.join(releases)}")
    failed = 0
    for version, file in releases.items():
        is_wanted = not given.version or is_one_of(version, given.version)
        if not is_wanted or _is_built(version, given.output):
            continue
        failure = _build_release(version, file, given.output)
        if failure:
            failed += 1
            print(f"{version}: {failure[-2000:]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
