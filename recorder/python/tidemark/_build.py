# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds the plugin's library for the torch in use, or builds it."""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import hashlib
import os
import pwd
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from typing import Any

from tidemark import _console, _core, _cuda_headers, _trust

KNOWN_TORCH = [(2, minor) for minor in range(4, 16)]

_BUILD_PREFIX = "build-"
_OLD_BUILD_S = 24 * 3600


def _sources() -> tuple[str, list[str]]:
    root = os.path.join(_core.home(), "plugin")
    folder = os.path.join(root, "recorder", "torch")
    return root, sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cpp"))


def _cuda_includes(torch: Any) -> list[str]:
    site_packages = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    cuda = torch.version.cuda or ""
    folders = _cuda_headers.find(site_packages, cuda)
    if not folders:
        raise OSError(f"the CUDA headers that torch's own headers include are missing; {_cuda_headers.fix(cuda)}")
    return folders


def _extension_helpers() -> Any:
    """Returns torch.utils.cpp_extension. It imports setuptools, so only a build imports it."""
    try:
        from torch.utils import cpp_extension
    except ImportError as failure:
        raise OSError(f"torch.utils.cpp_extension cannot be imported ({failure}); pip install setuptools") from failure
    return cpp_extension


def saved_fields(functions_header: str) -> str:
    """Returns lines for saved_variables.cpp that list the members in which torch's generated node classes save tensors.

    functions_header: path of torch/csrc/autograd/generated/Functions.h.
    """
    with open(functions_header) as file:
        parts = re.split(r"^struct TORCH_API (\w+) : public \w+ \{", file.read(), flags=re.MULTILINE)
    lines = []
    for node_class, body in zip(parts[1::2], parts[2::2]):
        for kind, field in re.findall(
            r"^  (?:::)?(std::vector<SavedVariable>|SavedVariable) (\w+);", body, re.MULTILINE
        ):
            macro = "ONE" if kind == "SavedVariable" else "LIST"
            lines.append(f'{macro}({node_class}, {field}, "{field.rstrip("_")}")\n')
    return "".join(lines)


class _Compiler:
    """Compiles with the options of torch's own extensions. The constructor raises OSError if a part is missing."""

    def __init__(self, torch: Any, generated: str) -> None:
        found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        if found is None:
            raise OSError("no C++ compiler was found to build the recorder's plugin; install g++")
        self.command = shlex.split(found)
        cuda_includes = _cuda_includes(torch)
        helpers = _extension_helpers()
        self.torch_includes = helpers.include_paths()
        self.library_folders = helpers.library_paths()
        standard = "c++17" if torch_version(torch) < (2, 12) else "c++20"
        root, self.sources = _sources()
        self.options = [
            f"-std={standard}", "-O2", "-fPIC", "-w",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
            "-I", root, "-I", generated,
            *(word for folder in [*self.torch_includes, *cuda_includes] for word in ("-isystem", folder)),
        ]  # fmt: skip
        # The recorder must not record the compiler, so the compiler gets none of the recorder's variables.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDEMARK_") and k != "PYTHONPATH"}

    def compile(self, source: str, output: str) -> str:
        """Returns the compiler's messages, or "" if it succeeded."""
        return self._run([*self.command, *self.options, "-c", source, "-o", output])

    def link(self, objects: list[str], output: str) -> str:
        """Returns the linker's messages, or "" if it succeeded."""
        folders = [word for folder in self.library_folders for word in ("-L", folder)]
        libraries = [*folders, "-lc10", "-lc10_cuda", "-ltorch_cpu", *_loaded_runtimes()]
        # The plugin's functions call each other directly, not by way of the table of what other libraries may replace.
        flags = ["-shared", "-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic-functions"]
        return self._run([*self.command, *flags, *objects, *libraries, "-o", output])

    def find_include(self, header: str) -> str:
        """Returns the path of one of torch's headers. Raises OSError if it is missing."""
        paths = (os.path.join(folder, header) for folder in self.torch_includes)
        found = next(filter(os.path.exists, paths), None)
        if found is None:
            raise OSError(f"torch's header {header} is missing; reinstall torch")
        return found

    def _run(self, command: list[str]) -> str:
        completed = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        return completed.stderr or f"exit status {completed.returncode}" if completed.returncode != 0 else ""


def _loaded_runtimes() -> list[str]:
    """Returns the C++ runtime libraries that torch has loaded.

    Some compilers link their own runtime, and then the plugin cannot catch torch's exceptions."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps}
    names = ("libstdc++.so.6", "libgcc_s.so.1")
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


def torch_version(torch: Any) -> tuple[int, ...]:
    """Returns (major, minor)."""
    return tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


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


def _usable_cache(torch: Any) -> str:
    """Returns the path of the plugin in the first cache that contains it or can get it. Raises OSError."""
    refusals = []
    for folder in _cache_folders():
        path = os.path.join(folder, _file_name(torch))
        try:
            _trust.create_folder(folder)
            if _is_built(path) or os.access(folder, os.W_OK | os.X_OK):
                return path
            refusals.append(f"{folder} is not writable")
        except OSError as failure:
            if failure.errno is None:  # another user could change the folder: its owner must know
                raise
            refusals.append(f"{folder} cannot be created: {failure.strerror}")
    raise OSError(
        f"there is no folder for the recorder's plugin ({'; '.join(refusals)}); set TIDEMARK_CACHE to a folder that you"
        " can write"
    )


def _home() -> str:
    """Returns the home of this user. Under sudo, HOME may be that of another user, whose cache is neither trusted nor
    filled with files that only root can remove."""
    named = os.path.expanduser("~")
    try:
        return named if os.stat(named).st_uid == os.geteuid() else pwd.getpwuid(os.geteuid()).pw_dir
    except (OSError, KeyError):
        return named


def _file_name(torch: Any) -> str:
    """Returns a file name that is unique to the torch, its ABI, the plugin's sources and this file."""
    digest = hashlib.sha256(f"{torch.__version__} {torch.__file__} {torch.compiled_with_cxx11_abi()}".encode())
    root, _ = _sources()
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    for path in [*sorted(files), __file__]:
        with open(path, "rb") as source:
            digest.update(source.read())
    return f"plugin-{torch.__version__}-{digest.hexdigest()[:12]}.so"


def _build(torch: Any, path: str) -> None:
    _console.notify(f"building the recorder's plugin for torch {torch.__version__} (once)")
    with tempfile.TemporaryDirectory(prefix=_BUILD_PREFIX, dir=os.path.dirname(path)) as folder:
        compiler = _Compiler(torch, folder)
        header = compiler.find_include(os.path.join("torch", "csrc", "autograd", "generated", "Functions.h"))
        with open(os.path.join(folder, "saved_fields.inc"), "w") as file:
            file.write(saved_fields(header))
        objects = [os.path.join(folder, os.path.basename(source) + ".o") for source in compiler.sources]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            messages = "".join(workers.map(compiler.compile, compiler.sources, objects))
        library = os.path.join(folder, "plugin.so")
        messages = messages or compiler.link(objects, library)
        if messages:
            _raise_failure(torch, messages, f"{path}.log")
        os.chmod(library, 0o700)
        os.replace(library, path)
        digest = os.path.join(folder, "digest")
        with open(_trust.open_file(digest, os.O_WRONLY | os.O_CREAT), "w") as file:
            file.write(_digest_of(path))
        os.replace(digest, _digest_path(path))


def _raise_failure(torch: Any, messages: str, log: str) -> None:
    with open(_trust.open_file(log, os.O_WRONLY | os.O_CREAT), "w") as file:
        file.truncate()
        file.write(messages)
    raise OSError(
        f"the recorder's plugin could not be built for torch {torch.__version__}; the compiler's messages are in {log}"
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
    """Returns the path of the plugin for this torch. Builds it if it is not in the cache. Raises OSError.

    No other user can change the file at that path, or any folder above it.
    """
    if torch_version(torch) not in KNOWN_TORCH:
        raise OSError(
            f"torch {torch.__version__} is not supported (this Tidemark supports 2.4 to 2.15); update Tidemark"
        )
    path = _usable_cache(torch)
    if not _is_built(path):
        folder = os.path.dirname(path)
        lock = _trust.open_file(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT)
        try:
            _wait_for_lock(lock)
            _remove_old_builds(folder)
            if not _is_built(path):
                _build(torch, path)
        finally:
            os.close(lock)
    return path


def _wait_for_lock(lock: int) -> None:
    """Waits for other ranks that build the same plugin. A home on a network may have no locks: then each rank builds,
    and the last one replaces the plugin as a whole."""
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
