# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Calls a function when a library is imported whose arrays are on the GPU."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from typing import Any, Callable

from tidemark import _console
from tidemark._sentence import Sentence

_MODULES = ("cupy", "numba.cuda", "jaxlib")


def when_imported(call: Callable[[], None]) -> None:
    """Calls call() now, or once the import of the first such library begins. Raises nothing."""
    if any(module in sys.modules for module in _MODULES):
        _call_safely(call)
    else:
        sys.meta_path.insert(0, _Finder(call))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing: it only learns what is imported."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name in _MODULES and self in sys.meta_path:
            sys.meta_path.remove(self)
            _call_safely(self._call)
        return None


def _call_safely(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception as failure:  # no failure of the recorder may end the program
        _console.notify(Sentence("not recording: {failure}", failure=failure))
