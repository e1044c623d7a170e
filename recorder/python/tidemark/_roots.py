# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""GC roots of a heap scan: objects with a name of their own, such as local variables and globals."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType, TracebackType
from typing import Any

from tidemark import _callbacks, _heap, _introspect, _links, _loops

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


# Distances of roots: a path from a variable of the program is better than one from a variable of a library, unless it
# is longer by this number of references.
_OF_LIBRARY_FRAME = 30
_OF_INNER_FRAME = 5  # for each frame of a library around it: its variables are often arguments that a caller retains
_OF_INNERMOST_FRAME = 60
_OF_LIBRARY_MODULE = 40
_OF_TORCH = 60


class Root(typing.NamedTuple):
    """A root. kind: "local" or "exception" for a frame (or the dictionary of a class body), "global" for the dictionary
    of a module, "callback" for what is registered with atexit, "ctx" or "context" for an object that names itself,
    "loop" for the iterator of a `for` loop that runs."""

    kind: str
    object: Any
    function: str = ""
    file: str = ""
    line: int = 0
    distance: int = 0

    def variables(self) -> int:
        """Returns the number of variables that the search reads; -1 if the root is not a frame."""
        return len(_heap.variables_of(self.object.f_code)) if _introspect.is_a(self.object, types.FrameType) else -1

    def for_search(self) -> _heap.Root:
        """Returns the root as a search takes it."""
        return _heap.Root(self.object, self.variables(), self.distance)


def is_own(file: str) -> bool:
    """Returns whether the file belongs to this package."""
    return file.startswith(_OWN_FOLDER)


@functools.lru_cache(maxsize=10_000)
def is_users(file: str) -> bool:
    """Returns whether the file belongs neither to the standard library nor to an installed package."""
    inside = file.startswith(_STANDARD_LIBRARY) or any(folder in file for folder in _INSTALLED)
    return not inside and not file.startswith("<frozen") and not is_own(file)


def of_frame(kind: str, frame: FrameType, line: int | None) -> Root:
    """Returns the root for a frame that executes `line`."""
    return Root(kind, frame, *_links.function_place(frame.f_code), line or 0)


def running_stacks() -> Iterator[list[FrameType]]:
    """Yields the frames of each thread, innermost first, without those of this package."""
    for stack in _stacks_of_program():
        yield [frame for frame in stack if not is_own(frame.f_code.co_filename)]


def own_frames() -> Iterator[FrameType]:
    """Yields the frames of this package that called the program, on all threads."""
    for stack in _stacks_of_program():
        yield from (frame for frame in stack if is_own(frame.f_code.co_filename))


def _stacks_of_program() -> list[list[FrameType]]:
    """Returns the frames of each thread, innermost first, from the innermost one of another package on.

    A variable that holds the frame of its own function is a reference cycle: until a collection, it would retain the
    frames of all callers, and what the program has dropped since then."""
    stacks: list[list[FrameType]] = []
    frames: list[FrameType | None] = list(reversed(sys._current_frames().values()))
    while frames:
        frame = frames.pop()
        while frame is not None and is_own(frame.f_code.co_filename):
            frame = frame.f_back
        stacks.append([])
        while frame is not None:
            stacks[-1].append(frame)
            frame = frame.f_back
    return stacks


def tracebacks() -> Iterator[tuple[int, TracebackType | None]]:
    """Yields the threads that handle exceptions now, and the tracebacks of these."""
    for thread, handled in getattr(sys, "_current_exceptions", dict)().items():
        error = handled[1] if type(handled) is tuple else handled
        while error is not None:
            yield thread, BaseException.__dict__["__traceback__"].__get__(error)
            error = BaseException.__dict__["__context__"].__get__(error)


def _of_running(frames: Iterable[FrameType]) -> Iterator[Root]:
    for frame in frames:
        root = of_frame("local", frame, frame.f_lineno)
        yield root if frame.f_code.co_flags & inspect.CO_OPTIMIZED else _of_names(frame, root)


def _of_names(frame: FrameType, root: Root) -> Root:
    """Returns the root of a module or a class body, whose f_locals is its own dictionary, not a copy."""
    names = frame.f_locals
    if names is frame.f_globals or not _introspect.is_a(names, dict):
        return Root("global", frame.f_globals, "", root.file)
    return root._replace(object=names)


def _of_traceback(traceback: TracebackType | None, kind: str = "exception") -> Iterator[Root]:
    """Yields the roots of a traceback's frames, outermost first."""
    while traceback is not None:
        yield of_frame(kind, traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next


def _with_distances(roots: Iterable[Root]) -> Iterator[Root]:
    """Yields the roots of frames, outermost first, with the distances of those that belong to libraries. Many frames
    share the distances up to the furthest, so that inner ones stay further away."""
    roots = list(roots)
    count = max(1, sum(not is_users(root.file) for root in roots))
    inner = 0
    for root in roots:
        if is_users(root.file):
            yield root
        else:
            shared = (_OF_INNERMOST_FRAME - _OF_LIBRARY_FRAME) * inner // count
            yield root._replace(distance=_OF_LIBRARY_FRAME + min(_OF_INNER_FRAME * inner, shared))
            inner += 1


Namespaces = list[tuple[str, dict[str, Any]]]


def namespaces() -> Namespaces:
    """Returns (name, dictionary) of all modules, each once."""
    found: dict[int, tuple[str, dict[str, Any]]] = {}
    for name, module in list(sys.modules.items()):
        if issubclass(type(module), types.ModuleType):
            names = _introspect.module_attributes(module)
            found.setdefault(id(names), (name, names))
    return list(found.values())


def _of_namespace(name: str, names: dict[str, Any]) -> Root:
    return Root("global", names, "", _introspect.name_of(names.get("__file__") or name))


def _is_own_module(name: str) -> bool:
    return name == "tidemark" or name.startswith("tidemark.")


def nearest(modules: Namespaces, traceback: TracebackType | None, thread: int | None = None) -> list[Root]:
    """Returns locals of running frames, frames of exceptions, globals of the program's modules and registered
    callbacks, in this order, then locals of library frames, outermost first.

    thread: only exceptions that this thread handles count as such. What others handle is not the cause of what this
    one does, so the variables of their frames count as locals. None: all threads."""
    stacks = list(running_stacks())
    roots = list(_of_running(frame for frames in stacks for frame in frames if is_users(frame.f_code.co_filename)))
    roots += _with_distances(_of_traceback(traceback))
    for handling, each in tracebacks():
        kind = "exception" if thread in (None, handling) else "local"
        roots += _with_distances(_of_traceback(each, kind))
    roots += _of_users_modules(modules)
    roots += _of_callbacks()
    for frames in stacks:
        roots += _with_distances(
            _of_running(frame for frame in reversed(frames) if not is_users(frame.f_code.co_filename))
        )
    return roots


def _of_callbacks() -> Iterator[Root]:
    for function, item in _callbacks.registered():
        yield Root("callback", item, *_links.place_of_callable(function))


def _of_users_modules(modules: Namespaces) -> list[Root]:
    """Returns the namespaces of the program's modules, __main__ first. __main__ may have no file (interactive mode)."""
    users: list[Root] = []
    for name, names in modules:
        file = names.get("__file__")
        if name == "__main__":
            users.insert(0, _of_namespace(name, names))
        elif type(file) is str and os.sep in file and is_users(file):
            users.append(_of_namespace(name, names))
    return users


def of_objects(autograd_contexts: Sequence[Any], contexts: Sequence[Any]) -> list[Root]:
    """Returns the contexts of autograd functions and the contexts of context variables. Only C refers to them."""
    return [Root("ctx", each) for each in autograd_contexts] + [Root("context", each) for each in contexts]


def of_loops(heap: _heap.Heap) -> list[Root]:
    """Returns the iterators of the `for` loops that run in the program's functions. Only their frames refer to them."""
    return [
        of_frame("loop", frame, frame.f_lineno)._replace(object=iterator)
        for frames in running_stacks()
        for frame in frames
        if is_users(frame.f_code.co_filename)
        for iterator in _loops.iterators(heap, frame)
    ]


def furthest(modules: Namespaces) -> list[Root]:
    """Returns the globals of all other modules."""
    return [
        _of_namespace(name, names)._replace(distance=_OF_TORCH if name.split(".")[0] == "torch" else _OF_LIBRARY_MODULE)
        for name, names in modules
        if not _is_own_module(name)
    ]


def barriers(modules: Namespaces) -> list[Any]:
    """Returns the objects that a search enters only as roots, because a module does not belong to its importer."""
    return [sys.modules, *(names for _, names in modules), *own_frames()]
