# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Arrays of JAX as targets of heap scans. They lie in blocks of XLA's allocator, where no event shows them, so a scan
records their bytes by what retains them.

Calls only C++ code of JAX that reads: it neither waits for a computation nor takes a buffer's address.
"""

from __future__ import annotations

import math
import sys
import typing
from collections.abc import Collection
from typing import Any

from tidemark import _introspect, _roots
from tidemark._targets import NO_PLACE, Choice, Pooled, Target, Wanted

MODULES = ("jaxlib._jax", "jaxlib.xla_extension")  # of new and old versions
_MOST_MAKERS = 10_000
# Smaller arrays, such as losses, are most of those that a program keeps, and least of their bytes: a scan that has no
# time for all records no sums.
_LEAST_BYTES = 1024
_UNKNOWN = "", "", 0


class JaxArrays:
    """A _targets.Kind. Not thread-safe."""

    def __init__(self) -> None:
        self._makers: dict[int, tuple[str, str, int]] = {}  # by traceback: arrays of one line have equal ones

    def classes(self) -> tuple[type, ...]:
        """Returns the class of arrays, if the program has imported JAX."""
        for name in MODULES:
            module = sys.modules.get(name)
            found = None if module is None else vars(module).get("ArrayImpl")
            if _introspect.is_a(found, type):
                return (typing.cast(type, found),)
        return ()

    def choose(self, listed: list[list[Any]], wanted: Wanted, choice: Choice) -> None:
        """Implements _targets.Kind. Arrays may be in any block of a site that grows."""
        for arrays in listed:
            while arrays and not choice.is_full():
                array = arrays.pop()
                choice.add(array, self.targets_of(array, None))
            choice.is_cut = choice.is_cut or bool(arrays)
            arrays.clear()

    def targets_of(self, item: Any, blocks: Collection[int] | None) -> list[Target]:
        """Implements _targets.Kind."""
        size = _bytes_of(item)
        return [Target(NO_PLACE, pooled=Pooled(size, *self._maker_of(item)))] if size >= _LEAST_BYTES else []

    def _maker_of(self, array: Any) -> tuple[str, str, int]:
        """Returns (function, file, line) of the program that made the array; ("", "", 0): unknown."""
        try:
            traceback = _native(array, "traceback")
            key = hash(traceback)
        except Exception:  # tracebacks may be turned off
            return _UNKNOWN
        if key not in self._makers:
            if len(self._makers) >= _MOST_MAKERS:
                self._makers.clear()
            self._makers[key] = _user_of(traceback)
        return self._makers[key]


def _bytes_of(array: Any) -> int:
    """Returns the bytes of an array on a GPU; 0: it has none, or they are unknown."""
    try:
        if _native(array, "is_deleted") or _is_on_cpu(array):
            return 0
        abstract = _native(array, "aval")
        shape = _introspect.attribute(abstract, "shape")
        itemsize = _introspect.attribute(_introspect.attribute(abstract, "dtype"), "itemsize")
    except Exception:  # of JAX: the array is being deleted
        return 0
    is_known = type(shape) is tuple and all(type(size) is int for size in shape) and type(itemsize) is int
    return math.prod(shape) * itemsize if is_known else 0


def _is_on_cpu(array: Any) -> bool:
    device = _native(_native(array, "_sharding"), "_device")  # none: arrays that several devices share
    return _native(device, "platform") == "cpu"


def _user_of(traceback: Any) -> tuple[str, str, int]:
    """Returns (function, file, line) of the innermost frame of the program."""
    for frame in _native(traceback, "frames") or ():
        file, line = _native(frame, "file_name"), _native(frame, "line_num")
        if type(file) is str and _roots.is_users(file):
            return str(_native(frame, "function_name")), file, line if type(line) is int else 0
    return _UNKNOWN


def _native(item: Any, name: str) -> Any:
    """Returns an attribute that the object stores or that C++ code returns, also by a method without arguments. None:
    there is none."""
    for base in _introspect.type_bases(type(item)):
        member = _introspect.type_attributes(base).get(name)
        get = member.fget if type(member) is property else member
        if get is not None and _introspect.class_of(get) in ("nb_method", "nb_func", "builtin_function_or_method"):
            return get(item)
    return _introspect.attribute(item, name)
