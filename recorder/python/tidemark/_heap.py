"""The search of the Python heap: libtidemark_heap.so finds chains of references without changing anything."""

import contextlib
import ctypes
import gc
import os
import sys
import typing

from tidemark import _core

ROOT, OUTSIDE, CYCLE = 1, 2, 3  # what a chain begins with: tidemark_heap_origin of recorder/heap/heap.h
NEAR_ROOT = 16  # TIDEMARK_HEAP_NEAR_ROOT
_LONGEST_CHAIN = 256


class _Known(ctypes.Structure):
    _fields_ = [
        ("list", ctypes.c_uint64),
        ("list_type", ctypes.c_uint64),
        ("items", ctypes.POINTER(ctypes.c_uint64)),
        ("item_count", ctypes.c_uint64),
        ("some_class", ctypes.c_uint64),
        ("frame", ctypes.c_uint64),
        ("variables", ctypes.POINTER(ctypes.c_uint64)),
        ("variable_count", ctypes.c_uint64),
        ("get_objects", ctypes.c_uint64),
    ]


class _Root(ctypes.Structure):
    _fields_ = [("object", ctypes.c_uint64), ("variables", ctypes.c_int64)]


class _Chain(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("origin", "root", "variable", "cycle", "left_out", "objects")]


class Chain(typing.NamedTuple):
    """References from a root to a target: `objects`, outermost first. The fields are those of tidemark_heap_chain."""

    origin: int
    root: int
    variable: int
    cycle: int
    left_out: int
    objects: list


def variables_of(code):
    """Names of a code object's variables, in the order in which its frames keep them."""
    cells = code.co_cellvars
    if sys.version_info >= (3, 11):
        cells = tuple(name for name in cells if name not in code.co_varnames)
    return code.co_varnames + cells + code.co_freevars


def _numbers(addresses):
    return (ctypes.c_uint64 * len(addresses))(*addresses)


class Heap:
    """Raises OSError with a sentence where this Python's heap cannot be searched."""

    def __init__(self):
        if sys.implementation.name != "cpython" or "t" in sys.abiflags or hasattr(sys, "getobjects"):
            raise OSError("this build of Python keeps its objects differently")
        path = os.path.join(_core.home(), "libtidemark_heap.so")
        if not os.path.exists(path):
            raise OSError(f"{path} is missing")
        self._library = ctypes.PyDLL(path)
        self._declare()
        error = ctypes.create_string_buffer(512)
        if not self._prepare(sys.version_info[0], sys.version_info[1], error):
            raise OSError(error.value.decode())
        self.ticks = self._library.tidemark_heap_ticks

    def _declare(self):
        number, address = ctypes.c_int64, ctypes.c_uint64
        for name, result, arguments in (
            ("instances", None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]),
            ("variables", None, [address, ctypes.c_void_p, ctypes.c_int32]),
            ("begin", ctypes.c_void_p, [ctypes.c_void_p, number, ctypes.c_void_p, number]),
            ("from", number, [ctypes.c_void_p, ctypes.c_void_p, number]),
            ("give_up", number, [ctypes.c_void_p]),
            ("leftovers", number, [ctypes.c_void_p]),
            ("chain_of", _Chain, [ctypes.c_void_p, number, ctypes.c_void_p, ctypes.c_int32]),
            ("objects", number, [ctypes.c_void_p]),
            ("end", None, [ctypes.c_void_p]),
            ("ticks", address, []),
        ):
            function = self._library[f"tidemark_heap_{name}"]
            function.restype, function.argtypes = result, arguments
            setattr(self._library, f"tidemark_heap_{name}", function)

    def _prepare(self, major, minor, error):
        # The frame is this very one: its variables must hold during the call, in the order of their first use.
        known = [object(), (), self]
        items = _numbers(list(map(id, known)))
        frame = sys._getframe()
        variables = _numbers([id(self), id(major), id(minor), id(error), id(known), id(items), id(frame)])
        facts = _Known(
            id(known), id(list), items, len(items), id(Heap), id(frame), variables, len(variables), id(gc.get_objects)
        )
        return self._library.tidemark_heap_prepare(major, minor, ctypes.byref(facts), error, len(error))

    def instances(self, *bases):
        """For each of the classes `bases`, the objects that are of it or of one derived from it."""
        found = [[] for _ in bases]
        types, lists = (_numbers(list(map(id, items))) for items in (bases, found))
        self._library.tidemark_heap_instances(types, lists, len(bases))
        return found

    def variables(self, frame):
        """id() of what a frame's variables stand for, 0 for none; in the order of variables_of()."""
        count = len(variables_of(frame.f_code))
        addresses = (ctypes.c_uint64 * count)()
        self._library.tidemark_heap_variables(id(frame), addresses, count)
        return list(addresses)

    @contextlib.contextmanager
    def search(self, targets, barriers):
        """A Search for chains to the objects `targets`, which does not enter the objects `barriers` by itself."""
        wanted, shut = (_numbers([id(item) for item in items]) for items in (targets, barriers))
        handle = self._library.tidemark_heap_begin(wanted, len(wanted), shut, len(shut))
        if not handle:
            raise MemoryError
        del targets, barriers
        try:
            yield Search(self._library, handle)
        finally:
            self._library.tidemark_heap_end(handle)


class Search:
    """A search under way. Its calls return how many targets are still without a chain."""

    def __init__(self, library, handle):
        self._library = library
        self._handle = handle
        self._addresses = (ctypes.c_uint64 * _LONGEST_CHAIN)()

    def roots(self, roots):
        """Breadth first from (object, number of variables, or -1 where the object is no frame)."""
        array = (_Root * len(roots))(*[_Root(id(item), variables) for item, variables in roots])
        return self._missing(self._library.tidemark_heap_from(self._handle, array, len(array)))

    def give_up(self):
        """Forgets targets that nothing the collector knows refers to."""
        return self._missing(self._library.tidemark_heap_give_up(self._handle))

    def leftovers(self):
        """Chains within what no root leads to."""
        return self._missing(self._library.tidemark_heap_leftovers(self._handle))

    @staticmethod
    def _missing(count):
        if count < 0:
            raise MemoryError
        return count

    def chain(self, target):
        """The chain to target number `target`, or None."""
        about = self._library.tidemark_heap_chain_of(self._handle, target, self._addresses, _LONGEST_CHAIN)
        if about.origin == 0:
            return None
        addresses = self._addresses[: min(about.objects, _LONGEST_CHAIN)]
        objects = [ctypes.cast(address, ctypes.py_object).value for address in addresses]
        return Chain(about.origin, about.root, about.variable, about.cycle, about.left_out, objects)

    def objects(self):
        """How many were looked at so far."""
        return self._library.tidemark_heap_objects(self._handle)
