# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Scans the Python heap. libtidemark_heap.so finds retention paths and changes no object."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import os
import sys
import types
import typing
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import tidemark._abi as _abi
from tidemark import _core
from tidemark._sentence import Sentence

_LONGEST_PATH = 256
_MOST_NOTED = 256
_OLDEST = 2  # generation of the garbage collector
_BASE_OF_ARRAY = 48  # offset of PyArrayObject.base, the same in all versions of NumPy


class Path(typing.NamedTuple):
    """References from a root to a target. The fields are those of tidemark_heap_path; `objects`: root first."""

    start: int
    root: int
    variable: int
    cycle_length: int
    omitted: int
    objects: list[Any]


class Recognized(typing.NamedTuple):
    """What a search recognizes on its way: one tensor of each block of memory, and of other objects the nearest ones.
    With blocks, it ends when it has found these."""

    tensor_type: type
    offset: int  # of the address of its TensorImpl in a tensor object
    notes: int  # address of a function that returns whether to note a tensor, tidemark_plugin_has_node() or like it
    blocks: Sequence[int] = ()
    block_of: int = 0  # address of tidemark_plugin_block_of()
    known: Collection[int] = ()  # ids of tensors that are not noted
    types: Sequence[type] = ()  # whose objects are noted, too


class Root(typing.NamedTuple):
    """Where a search begins. variables: their number in a frame; -1: the object is no frame."""

    object: Any
    variables: int
    distance: int = 0


def _kinds() -> Iterator[tuple[type, int, int]]:
    """Yields (type, distance from objects that refer to one of this type, offset of its only reference or 0).

    Other types have the distance 1: a path through containers and attributes is better than one through the
    interpreter's own objects."""
    yield type, 8, 0
    yield types.FrameType, 6, 0
    yield types.TracebackType, 6, 0
    yield types.FunctionType, 4, 0
    yield types.BuiltinFunctionType, 4, 0
    numpy = sys.modules.get("numpy")
    array = getattr(numpy, "ndarray", None)
    if array is not None and _has_base(array):
        yield array, 1, _BASE_OF_ARRAY


@functools.cache
def _has_base(array: type) -> bool:
    """Checks on a known array where NumPy's arrays store the object whose memory they show."""
    if array.__flags__ & 1 << 14 or array.__basicsize__ < _BASE_OF_ARRAY + 8:  # the garbage collector knows the type
        return False
    whole = array(2)
    part = whole[1:]
    return ctypes.c_uint64.from_address(id(part) + _BASE_OF_ARRAY).value == id(whole) == id(part.base)


def variables_of(code: CodeType) -> tuple[str, ...]:
    """Returns the names of a code object's variables in the order in which its frames store them."""
    cells = code.co_cellvars
    if sys.version_info >= (3, 11):
        cells = tuple(name for name in cells if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


def _addresses(items: Iterable[int]) -> Any:
    numbers = list(items)
    return (ctypes.c_uint64 * len(numbers))(*numbers)


class Heap:
    """The loaded library. The constructor raises OSError if this Python's heap cannot be scanned."""

    def __init__(self) -> None:
        if sys.implementation.name != "cpython" or "t" in sys.abiflags or hasattr(sys, "getobjects"):
            raise OSError(Sentence("this build of Python has another object layout"))
        path = os.path.join(_core.home(), "libtidemark_heap.so")
        if not os.path.exists(path):
            raise OSError(Sentence("{path} is missing", path=path))
        self._library = _core.declare(ctypes.PyDLL(path), _abi.HEAP_FUNCTIONS)
        error = ctypes.create_string_buffer(512)
        if not self._prepare(sys.version_info[0], sys.version_info[1], error):
            raise OSError(error.value.decode())
        self.ticks = self._library.tidemark_heap_ticks
        self.runnable_ns = self._library.tidemark_heap_runnable_ns

    def _prepare(self, major: int, minor: int, error: Any) -> int:
        # Describes this frame, so its variables must not change before the call. They are in order of assignment.
        known = [object(), (), self]
        items = _addresses(map(id, known))
        frame = sys._getframe()
        variables = _addresses([id(self), id(major), id(minor), id(error), id(known), id(items), id(frame)])
        facts = _abi.HeapKnown(
            list=id(known),
            list_type=id(list),
            items=items,
            item_count=len(items),
            some_class=id(Heap),
            frame=id(frame),
            variables=variables,
            variable_count=len(variables),
            get_objects=id(gc.get_objects),
            function_type=id(types.FunctionType),
        )
        prepared = self._library.tidemark_heap_prepare(major, minor, ctypes.byref(facts), error, len(error))
        del frame  # else a reference cycle, which retains the frames of all callers
        return prepared

    def instances(self, *bases: type) -> list[list[Any]]:
        """Returns one list per class: the objects of that class and of classes derived from it."""
        found: list[list[Any]] = [[] for _ in bases]
        types, lists = (_addresses(map(id, items)) for items in (bases, found))
        self._library.tidemark_heap_instances(types, lists, len(bases))
        return found

    def instances_in_parts(
        self, *bases: type, longest_s: float, between: Callable[[], bool], most_walks: int = 3
    ) -> list[list[Any]]:
        """Works as instances(), but lets the program run after each part of about longest_s: calls between(), and ends
        the search when it returns False. May miss objects if it ends so, if the program moves all objects again and
        again, or if they allow no weak references. A version of Python whose objects cannot be visited in parts is
        searched in one."""
        references: list[list[weakref.ref[Any]]] = [[] for _ in bases]
        types, lists = (_addresses(map(id, items)) for items in (bases, references))
        for _ in range(most_walks):
            for list_ in references:
                list_.clear()
            end = self._walk(types, lists, int(longest_s * 1e9), between)
            if end is None:
                return self.instances(*bases)
            if end == _abi.HEAP_WALK_DONE:
                break
        return [[found for reference in list_ if (found := reference()) is not None] for list_ in references]

    def _walk(self, types: Any, lists: Any, longest_ns: int, between: Callable[[], bool]) -> int | None:
        """Walks once. Returns how the walk ended, as far as that matters; None: Python cannot be walked."""
        collections = ctypes.c_int64()

        def on_collection(phase: str, info: dict[str, Any]) -> None:
            collections.value += info["generation"] == _OLDEST

        walk = self._library.tidemark_heap_walk_begin(ctypes.byref(collections))
        if not walk:
            return None
        gc.callbacks.append(on_collection)
        try:
            while True:
                end = self._library.tidemark_heap_walk_part(walk, types, lists, len(types), longest_ns)
                if end != _abi.HEAP_WALK_LATE:
                    return end
                if not between():
                    return _abi.HEAP_WALK_DONE
        finally:
            gc.callbacks.remove(on_collection)
            self._library.tidemark_heap_walk_end(walk)

    def variables(self, frame: FrameType) -> list[int]:
        """Returns id() of each variable's value, 0 for none, in the order of variables_of()."""
        return self._values(frame, len(variables_of(frame.f_code)))

    def stack_items(self, frame: FrameType, positions: Sequence[int]) -> list[Any]:
        """Returns the values at these positions of the frame's stack, without those that are not there. All of them
        must be in use at the frame's current instruction."""
        first = len(variables_of(frame.f_code))
        values = self._values(frame, first + max(positions, default=-1) + 1)[first:]
        return [ctypes.cast(values[at], ctypes.py_object).value for at in positions if values[at] != 0]

    def _values(self, frame: FrameType, count: int) -> list[int]:
        """Returns the id of the first values of a frame: its variables, then its stack. 0: none."""
        addresses = (ctypes.c_uint64 * count)()
        self._library.tidemark_heap_variables(id(frame), addresses, count)
        return list(addresses)

    @contextlib.contextmanager
    def search(
        self, targets: Sequence[Any], barriers: Sequence[Any], recognized: Recognized | None = None
    ) -> Iterator[Search]:
        """Yields a Search for paths to `targets` and to what is recognized on the way. It follows references of
        `barriers` only if they are roots. Raises MemoryError."""
        wanted, shut = (_addresses(map(id, items)) for items in (targets, barriers))
        noted = () if recognized is None else recognized.types
        kinds = [_abi.HeapType(id(kind), 1, 0, 1) for kind in noted]
        kinds += [_abi.HeapType(id(kind), distance, reference, 0) for kind, distance, reference in _kinds()]
        plan = _abi.HeapPlan(
            targets=wanted,
            target_count=len(wanted),
            barriers=shut,
            barrier_count=len(shut),
            types=(_abi.HeapType * len(kinds))(*kinds),
            type_count=len(kinds),
        )
        if recognized is not None:
            plan.blocks, plan.block_count = _addresses(recognized.blocks), len(recognized.blocks)
            plan.known_tensors, plan.known_tensor_count = _addresses(recognized.known), len(recognized.known)
            plan.tensor_type, plan.impl_offset = id(recognized.tensor_type), recognized.offset
            plan.block_of, plan.notes_tensor = recognized.block_of, recognized.notes
            plan.most_noted = _MOST_NOTED
        handle = self._library.tidemark_heap_begin(ctypes.byref(plan))
        if not handle:
            raise MemoryError
        del targets, barriers
        try:
            yield Search(self._library, handle)
        finally:
            self._library.tidemark_heap_end(handle)


class Search:
    """A search in progress. Its calls return how much has no path yet, and raise MemoryError."""

    def __init__(self, library: Any, handle: int) -> None:
        self._library = library
        self._handle = handle
        self._addresses = (ctypes.c_uint64 * _LONGEST_PATH)()
        self._objects = (ctypes.py_object * _LONGEST_PATH).from_buffer(self._addresses)

    def search_from(self, roots: Sequence[Root], longest_s: float = 0.0) -> int:
        """Searches from roots, the nearest objects first, for at most longest_s; 0: any time."""
        array = (_abi.HeapRoot * len(roots))(*[_abi.HeapRoot(id(item), *how) for item, *how in roots])
        return self._missing(
            self._library.tidemark_heap_search_from(self._handle, array, len(array), int(longest_s * 1e9))
        )

    def drop_unreferenced(self) -> int:
        """Drops targets that no object of the garbage collector refers to."""
        return self._missing(self._library.tidemark_heap_drop_unreferenced(self._handle))

    def search_unreachable(self) -> int:
        """Searches among the objects that no root reaches."""
        return self._missing(self._library.tidemark_heap_search_unreachable(self._handle))

    @staticmethod
    def _missing(count: int) -> int:
        if count < 0:
            raise MemoryError
        return count

    def targets(self) -> int:
        """Returns the number of targets: those given, then those recognized."""
        return self._library.tidemark_heap_targets(self._handle)

    def path_to(self, target: int) -> Path | None:
        """Returns the path to target number `target`, or None."""
        found = self._library.tidemark_heap_path_to(self._handle, target, self._addresses, _LONGEST_PATH)
        if found.start == _abi.HEAP_UNREFERENCED:
            return None
        objects = self._objects[: min(found.length, _LONGEST_PATH)]
        return Path(found.start, found.root, found.variable, found.cycle_length, found.omitted, objects)

    def objects(self) -> int:
        """Returns the number of objects visited so far."""
        return self._library.tidemark_heap_objects(self._handle)
