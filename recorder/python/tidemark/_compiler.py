# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compiles the plugin for a build of torch, which need not be the one in use."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import re
import runpy
import shlex
import shutil
import subprocess
import typing
from collections.abc import Sequence
from typing import Any

from tidemark import _core, _cuda_headers
from tidemark._sentence import Sentence


class TorchBuild(typing.NamedTuple):
    """A build of torch. version: with the local part, such as "2.11.0+cu130". git_version: the commit. cuda: such as
    "13.0", or "". folder: of the package torch, which contains `include` and `lib`."""

    version: str
    git_version: str
    cuda: str
    has_cxx11_abi: bool
    folder: str

    @property
    def minor(self) -> tuple[int, ...]:
        """(major, minor)"""
        return tuple(int(part) for part in self.version.split("+")[0].split(".")[:2])


def build_of(torch: Any) -> TorchBuild:
    """Returns the build that an imported torch is of."""
    about = torch.version
    return TorchBuild(
        torch.__version__,
        getattr(about, "git_version", None) or "",
        about.cuda or "",
        torch.compiled_with_cxx11_abi(),
        os.path.dirname(os.path.abspath(torch.__file__)),
    )


def installed_build() -> TorchBuild | None:
    """Returns the build of the torch that this Python would import; None: it has none. Reads its files only, because
    importing torch takes seconds."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return None
    folder = os.path.dirname(os.path.abspath(found.origin))
    about = runpy.run_path(os.path.join(folder, "version.py"))
    settings = os.path.join(folder, "share", "cmake", "Torch", "TorchConfig.cmake")
    return TorchBuild(
        about["__version__"],
        about.get("git_version") or "",
        about.get("cuda") or "",
        not _contains(settings, "_GLIBCXX_USE_CXX11_ABI=0"),
        folder,
    )


def _contains(path: str, text: str) -> bool:
    with contextlib.suppress(OSError), open(path) as file:
        return text in file.read()
    return False


def command() -> str:
    """Returns the command of the C++ compiler, or ""."""
    names = ("c++", "g++", "clang++")
    return os.environ.get("CXX") or next(filter(None, map(shutil.which, names)), "")


def sources() -> tuple[str, list[str]]:
    """Returns the root of the plugin's sources, and those to compile."""
    root = os.path.join(_core.home(), "plugin")
    folder = os.path.join(root, "recorder", "torch")
    return root, sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".cpp"))


def digest_of_sources() -> str:
    """Returns the SHA-256 of the plugin's sources and of how they are compiled. A plugin of others may not work."""
    digest = hashlib.sha256()
    root, _ = sources()
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    for path in [*sorted(files), __file__]:
        with open(path, "rb") as source:
            digest.update(source.read())
    return digest.hexdigest()


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


def compile_plugin(build: TorchBuild, folder: str, runtimes: Sequence[str]) -> tuple[str, str]:
    """Compiles the plugin in a folder. Returns its path and "", or the compiler's messages. Raises OSError if a part of
    the tools or of torch is missing.

    runtimes: libraries of the C++ runtime to link instead of the compiler's own."""
    compiler = _Compiler(build, folder)
    header = compiler.find_include(os.path.join("torch", "csrc", "autograd", "generated", "Functions.h"))
    with open(os.path.join(folder, "saved_fields.inc"), "w") as file:
        file.write(saved_fields(header))
    # Torch's headers take most of the time, so they are read once.
    whole, compiled, library = (os.path.join(folder, f"plugin.{ending}") for ending in ("cpp", "o", "so"))
    with open(whole, "w") as file:
        file.writelines(f'#include "{source}"\n' for source in compiler.sources)
    return library, compiler.compile(whole, compiled) or compiler.link(compiled, library, runtimes)


class _Compiler:
    """Compiles with the options of torch's own extensions. The constructor raises OSError if a part is missing."""

    def __init__(self, build: TorchBuild, generated: str) -> None:
        found = command()
        if not found:
            raise OSError(Sentence("no C++ compiler was found to build the recorder's plugin; install g++"))
        self.command = shlex.split(found)
        include = os.path.join(build.folder, "include")
        self.torch_includes = [include, os.path.join(include, "torch", "csrc", "api", "include")]
        self.library_folder = os.path.join(build.folder, "lib")
        root, self.sources = sources()
        self.options = [
            f"-std={'c++17' if build.minor < (2, 12) else 'c++20'}", "-O2", "-fPIC", "-w",
            # Between two callbacks, the program's own code takes all of the processor's caches: less code is faster.
            "-fno-semantic-interposition", "-fno-plt",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(build.has_cxx11_abi)}",
            "-I", root, "-I", generated,
            # Messages in torch's headers name their files: relative to torch, so that builds can be reproduced.
            f"-ffile-prefix-map={os.path.dirname(build.folder)}/=", f"-ffile-prefix-map={root}/=",
            *(word for folder in [*self.torch_includes, *_cuda_includes(build)] for word in ("-isystem", folder)),
        ]  # fmt: skip
        self.environment = _core.environment_of_helper()

    def compile(self, source: str, output: str) -> str:
        """Returns the compiler's messages, or "" if it succeeded."""
        return self._run([*self.command, *self.options, "-c", source, "-o", output])

    def link(self, compiled: str, output: str, runtimes: Sequence[str]) -> str:
        """Returns the linker's messages, or "" if it succeeded."""
        libraries = ["-L", self.library_folder, "-lc10", "-lc10_cuda", "-ltorch_cpu", *runtimes]
        # The plugin's functions call each other directly, not by way of the table of what other libraries may replace.
        flags = ["-shared", "-Wl,--no-as-needed,--exclude-libs,ALL,-Bsymbolic-functions"]
        return self._run([*self.command, *flags, compiled, *libraries, "-o", output])

    def find_include(self, header: str) -> str:
        """Returns the path of one of torch's headers. Raises OSError if it is missing."""
        paths = (os.path.join(folder, header) for folder in self.torch_includes)
        found = next(filter(os.path.exists, paths), None)
        if found is None:
            raise OSError(Sentence("torch's header {header} is missing; reinstall torch", header=header))
        return found

    def _run(self, command: list[str]) -> str:
        completed = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        return completed.stderr or f"exit status {completed.returncode}" if completed.returncode != 0 else ""


def _cuda_includes(build: TorchBuild) -> list[str]:
    folders = _cuda_headers.find(os.path.dirname(build.folder), build.cuda)
    if not folders:
        raise OSError(
            Sentence(
                "the CUDA headers that torch's own headers include are missing; {fix}",
                fix=_cuda_headers.fix(build.cuda),
            )
        )
    return folders
