# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Remembers what the program registers with atexit, which stores it where neither Python nor a heap scan can see it.

Stores weak references only, so nothing lives longer.
"""

from __future__ import annotations

import atexit
import functools
import types
import typing
import weakref
from collections.abc import Iterator
from typing import Any, Callable

_registered: list[_Callback] = []
_watches = False


class _Callback(typing.NamedTuple):
    function: Callable[[], Any]  # a weak reference
    arguments: list[Callable[[], Any]]  # weak references


def watch() -> None:
    """Replaces atexit.register and atexit.unregister, once per process."""
    global _watches
    if not _watches:
        _watches = True
        atexit.register, atexit.unregister = _watched(atexit.register, _note), _watched(atexit.unregister, _drop)


def registered() -> Iterator[tuple[Any, Any]]:
    """Yields (function, object) for the functions registered with atexit and their arguments, as far as they are alive.
    The first object of a function is itself."""
    _registered[:] = [each for each in _registered if each.function() is not None]
    for each in list(_registered):
        function = each.function()
        for item in (function, *(argument() for argument in each.arguments)):
            if item is not None:
                yield function, item


def _watched(call: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(call)
    def call_and_note(function: Any, *arguments: Any, **named: Any) -> Any:
        result = call(function, *arguments, **named)
        note(function, *arguments, *named.values())
        return result

    return call_and_note


def _note(function: Any, *arguments: Any) -> None:
    weak = _weak_reference(function)
    if weak is not None:
        _registered.append(_Callback(weak, [each for each in map(_weak_reference, arguments) if each is not None]))


def _drop(function: Any, *_: Any) -> None:
    _registered[:] = [each for each in _registered if each.function() is not function]


def _weak_reference(item: Any) -> Callable[[], Any] | None:
    try:
        return weakref.WeakMethod(item) if type(item) is types.MethodType else weakref.ref(item)
    except TypeError:  # plain containers, functions of C
        return None
