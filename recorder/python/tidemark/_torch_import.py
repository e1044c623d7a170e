# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Calls functions when torch is imported and when it initializes CUDA. The order of both does not matter."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from typing import Any, Callable

from tidemark import _console
from tidemark._sentence import Sentence


def when_imported(call: Callable[[Any], None]) -> None:
    """Calls call(torch) now, or right after torch's import."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda") and hasattr(torch.cuda, "_lazy_call"):
        call(torch)
    else:
        sys.meta_path.insert(0, _TorchFinder(call))


def is_under_way() -> bool:
    """Returns whether a thread imports torch now."""
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def when_cuda_is_ready(torch: Any, call: Callable[[], None]) -> None:
    """Calls call() once CUDA is initialized: now if it is, or if this call is part of the initialization."""
    if hasattr(torch.cuda._tls, "is_initializing"):  # torch holds its lock now
        call()
    else:
        torch.cuda._lazy_call(call)


class _TorchFinder(importlib.abc.MetaPathFinder):
    def __init__(self, call: Callable[[Any], None]) -> None:
        self._call = call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            spec.loader = _CallingLoader(spec.loader, self._call)
        return spec


class _CallingLoader(importlib.abc.Loader):
    """Runs torch's own loader, then a function."""

    def __init__(self, loader: Any, call: Callable[[Any], None]) -> None:
        self._loader = loader
        self._call = call

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            self._call(module)
        except Exception as failure:  # no failure of the recorder may end the program
            _console.notify(Sentence("not recording: {failure}", failure=failure))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
