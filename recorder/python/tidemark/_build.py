# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds the plugin's library for the torch in use: the one that came with this package, or one that it builds."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import pwd
import shutil
import sys
import tempfile
import time
from typing import Any

from tidemark import _compiler, _console, _prebuilt, _trust
from tidemark._compiler import TorchBuild
from tidemark._sentence import Sentence

# Minors whose builds all work with the plugin; a newer one is used after a trial.
KNOWN_TORCH = [(2, minor) for minor in range(4, 16)]

_BUILD_PREFIX = "build-"
_OLD_BUILD_S = 24 * 3600


def _loaded_runtimes() -> list[str]:
    """Returns the C++ runtime libraries that torch has loaded.

    Some compilers link their own runtime, and then the plugin cannot catch torch's exceptions."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    names = ("libstdc++.so.6", "libgcc_s.so.1")
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


def _cache_folders() -> list[str]:
    """Returns the folders that may hold plugins, in the order in which they are tried. TIDEMARK_CACHE allows no other.

    Users in containers and services have no home that they can write; their plugin is built once per boot."""
    selected = os.environ.get("TIDEMARK_CACHE")
    bases = [selected] if selected else [os.environ.get("XDG_CACHE_HOME") or os.path.join(_home(), ".cache")]
    folders = [os.path.join(os.path.abspath(base), "tidemark") for base in bases]
    return folders if selected else [*folders, _runtime_folder()]


def _runtime_folder() -> str:
    """Returns a folder of this user that lasts until the next boot at most."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.access(runtime, os.W_OK | os.X_OK):
        return os.path.join(runtime, "tidemark")
    return os.path.join(tempfile.gettempdir(), f"tidemark-{os.geteuid()}")


def _usable_cache(name: str) -> str:
    """Returns the path of the plugin of this name in the first cache that contains it or can get it. Raises OSError."""
    refusals = []
    for folder in _cache_folders():
        path = os.path.join(folder, name)
        try:
            _trust.create_folder(folder)
            if _is_built(path) or os.access(folder, os.W_OK | os.X_OK):
                return path
            refusals.append(Sentence("{folder} is not writable", folder=folder))
        except OSError as failure:
            if failure.errno is None:  # another user could change the folder: its owner must know
                raise
            refusals.append(Sentence("{folder} cannot be created: {cause}", folder=folder, cause=failure.strerror))
    raise OSError(
        Sentence(
            "there is no folder for the recorder's plugin ({refusals}); set TIDEMARK_CACHE to a folder that you can"
            " write",
            refusals=functools.reduce(lambda some, next: Sentence("{some}; {next}", some=some, next=next), refusals),
        )
    )


def _home() -> str:
    """Returns the home of this user. Under sudo, HOME may be that of another user, whose cache is neither trusted nor
    filled with files that only root can remove."""
    named = os.path.expanduser("~")
    try:
        return named if os.stat(named).st_uid == os.geteuid() else pwd.getpwuid(os.geteuid()).pw_dir
    except (OSError, KeyError):
        return named


def _file_name(build: TorchBuild) -> str:
    """Returns a file name that is unique to the torch, its ABI, the plugin's sources and how they are compiled."""
    own = f"{build.version} {build.folder} {build.has_cxx11_abi} {_compiler.digest_of_sources()}"
    digest = hashlib.sha256(own.encode())
    return f"plugin-{build.version}-{digest.hexdigest()[:12]}.so"


def _build(build: TorchBuild, path: str) -> None:
    _console.notify(Sentence("building the recorder's plugin for torch {version} (once)", version=build.version))
    with tempfile.TemporaryDirectory(prefix=_BUILD_PREFIX, dir=os.path.dirname(path)) as folder:
        library, messages = _compiler.compile_plugin(build, folder, _loaded_runtimes())
        if messages:
            _raise_failure(build, messages, f"{path}.log")
        os.chmod(library, 0o700)
        os.replace(library, path)
        digest = os.path.join(folder, "digest")
        with open(_trust.open_file(digest, os.O_WRONLY | os.O_CREAT), "w") as file:
            file.write(_digest_of(path))
        os.replace(digest, _digest_path(path))


def _raise_failure(build: TorchBuild, messages: str, log: str) -> None:
    with open(_trust.open_file(log, os.O_WRONLY | os.O_CREAT), "w") as file:
        file.truncate()
        file.write(messages)
    raise OSError(
        Sentence(
            "the recorder's plugin could not be built for torch {version}; the compiler's messages are in {log}",
            version=build.version,
            log=log,
        )
    )


def _digest_path(path: str) -> str:
    return f"{path}.sha256"


def _digest_of(path: str) -> str:
    """Returns the SHA-256 of a file of the cache. Raises OSError."""
    digest = hashlib.sha256()
    with open(_trust.open_file(path, os.O_RDONLY), "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _is_built(path: str) -> bool:
    """Returns whether the cache has this plugin as it was built. Raises OSError if another user may change it."""
    try:
        with open(_trust.open_file(_digest_path(path), os.O_RDONLY)) as file:
            return file.read(128) == _digest_of(path)
    except FileNotFoundError:
        return False


def _remove_old_builds(folder: str) -> None:
    """Removes the folders of builds that were killed more than a day ago."""
    for entry in os.scandir(folder):
        if entry.name.startswith((_BUILD_PREFIX, "tmp")) and entry.is_dir(follow_symlinks=False):
            about = entry.stat(follow_symlinks=False)
            if about.st_uid == os.geteuid() and time.time() - about.st_mtime > _OLD_BUILD_S:
                shutil.rmtree(entry.path, ignore_errors=True)


def built_for(torch: Any) -> str:
    """Returns the path of the plugin for this torch. Builds it if neither this package nor the cache has it. Raises
    OSError.

    No other user can change the file at that path, or any folder above it, unless he can change this package.
    """
    build = _compiler.build_of(torch)
    if build.minor < KNOWN_TORCH[0]:
        raise OSError(
            Sentence(
                "torch {version} is not supported; this Tidemark records torch 2.4 and newer", version=build.version
            )
        )
    prebuilt = _prebuilt.find(build)
    if prebuilt is not None:
        failure = _failure_of(prebuilt, build)
        if not failure:
            return prebuilt
        _console.notify(
            Sentence(
                "the plugin for torch {version} that came with Tidemark does not work here: {failure}",
                version=build.version,
                failure=failure,
            )
        )
    path = _built_in_cache(build)
    if build.minor not in KNOWN_TORCH:
        failure = _failure_of(path, build)
        if failure:
            raise OSError(
                Sentence(
                    "this Tidemark does not work with torch {version}, which is newer: {failure}; update it",
                    version=build.version,
                    failure=failure,
                )
            )
    return path


def found_in_cache(build: TorchBuild) -> str | None:
    """Returns the path of the plugin if a cache has it. Creates nothing. Raises OSError if others may change it."""
    paths = (os.path.join(folder, _file_name(build)) for folder in _cache_folders())
    return next(filter(_is_built, paths), None)


def _built_in_cache(build: TorchBuild) -> str:
    """Returns the path of the plugin in the cache. Builds it if it is not there."""
    path = _usable_cache(_file_name(build))
    if not _is_built(path):
        folder = os.path.dirname(path)
        lock = _trust.open_file(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT)
        try:
            _wait_for_lock(lock)
            _remove_old_builds(folder)
            if not _is_built(path):
                _build(build, path)
        finally:
            os.close(lock)
    return path


def _failure_of(plugin: str, build: TorchBuild) -> str:
    """Returns why the plugin does not work with this torch and this Python, or "". Tries it if the cache does not know
    that it works."""
    with open(plugin, "rb") as file:
        digest = hashlib.sha256(f"{build.folder} {sys.version}".encode() + file.read())
    try:
        mark = _usable_cache(f"proven-{digest.hexdigest()[:24]}")
        if os.path.exists(mark):
            return ""
    except OSError:
        mark = ""  # it is tried each time
    failure = _prebuilt.try_out(plugin)
    if mark and not failure:
        os.close(_trust.open_file(mark, os.O_WRONLY | os.O_CREAT))
    return failure


def _wait_for_lock(lock: int) -> None:
    """Waits for other ranks that build the same plugin. A home on a network may have no locks: then each rank builds,
    and the last one replaces the plugin as a whole."""
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
