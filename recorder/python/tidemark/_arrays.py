# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Arrays of CuPy and Numba as targets of heap scans.

Finds the libraries in sys.modules and imports nothing. Reads attributes without running any code of the program or of
the libraries, except that of CUDA's own bindings.
"""

from __future__ import annotations

import ctypes
import sys
import typing
import weakref
from collections.abc import Callable, Collection
from typing import Any

from tidemark import _driver, _introspect
from tidemark._core import Core
from tidemark._targets import Choice, Place, Target, Wanted

_CData: Any = ctypes.c_size_t.__base__
_value_of_c_data = _CData.__dict__["value"].__get__


class Memory(typing.NamedTuple):
    """Where an array's bytes are. is_foreign: they belong to another library."""

    address: int
    device: int = 0
    is_foreign: bool = False


class _Library(typing.NamedTuple):
    """A library's class of arrays. module: that defines it. memory_of: returns the memory of an array; None: it has
    none."""

    module: str
    name: str
    memory_of: Callable[[Any], Memory | None]


def _memory_of_cupy(array: Any) -> Memory | None:
    pointer = _introspect.attribute(array, "data")
    address, device = _introspect.attribute(pointer, "ptr"), _introspect.attribute(pointer, "device_id")
    owner = _introspect.class_of(_introspect.attribute(pointer, "mem"))
    if type(address) is not int or type(device) is not int or address == 0:
        return None
    return Memory(address, device, owner == "DLPackMemory")


def _memory_of_numba(array: Any) -> Memory | None:
    pointer = _introspect.attribute(array, "gpu_data")
    # Of a part of an array, older versions store only what the pointer is a view of, weakly if that is all of it.
    view = _introspect.attribute(pointer, "_view")
    address = _number(_introspect.attribute(pointer, "device_ctypes_pointer")) or _number(
        view.device_pointer
        if type(view) is weakref.ProxyType
        else _introspect.attribute(pointer if view is None else view, "device_pointer")
    )
    return Memory(address) if address else None


def _number(value: Any) -> int | None:
    """Returns the number that an address of Python, ctypes or cuda.bindings is; None: it is none."""
    if _introspect.is_a(value, _CData):
        value = _value_of_c_data(value)
    elif _introspect.class_of(value) == "CUdeviceptr":
        value = int(value)
    return value if type(value) is int else None


LIBRARIES = (
    _Library("cupy", "ndarray", _memory_of_cupy),
    _Library("numba.cuda.cudadrv.devicearray", "DeviceNDArrayBase", _memory_of_numba),
)


def _memory(library: _Library, array: Any) -> Memory | None:
    """Returns the array's memory; None: it has none, or this version of the library stores it in another way."""
    try:
        return library.memory_of(array)
    except Exception:  # such as that of a weak reference to what is gone
        return None


class Arrays:
    """A _targets.Kind. Not thread-safe. sequences: returns the number of allocator events of PyTorch so far, per
    device."""

    def __init__(self, core: Core, sequences: Callable[[], list[int]] = list) -> None:
        self._core = core
        self._sequences = sequences
        self._driver: _driver.Memory | None = None

    def classes(self) -> tuple[type, ...]:
        """Returns the classes of arrays in the libraries that the program has imported."""
        return tuple(array_class for _, array_class in self._loaded())

    def choose(self, listed: list[list[Any]], wanted: Wanted, choice: Choice) -> None:
        """Implements _targets.Kind."""
        for arrays in listed:
            while arrays and not choice.is_full():
                array = arrays.pop()
                choice.add(array, self.targets_of(array, wanted.blocks if wanted.only_blocks else None))
            arrays.clear()

    def targets_of(self, item: Any, blocks: Collection[int] | None) -> list[Target]:
        """Implements _targets.Kind."""
        library = next(library for library, array_class in self._loaded() if _introspect.is_a(item, array_class))
        place = self._place_of(_memory(library, item))
        return [Target(place)] if place is not None and (blocks is None or place.address in blocks) else []

    @staticmethod
    def _loaded() -> list[tuple[_Library, type]]:
        loaded = []
        for library in LIBRARIES:
            module = sys.modules.get(library.module)
            found = None if module is None else vars(module).get(library.name)
            if _introspect.is_a(found, type):
                loaded.append((library, typing.cast(type, found)))
        return loaded

    def _place_of(self, memory: Memory | None) -> Place | None:
        """Returns the place of the memory among the events of its device; None: it has none."""
        if memory is None:
            return None
        if self._core.driver_owns_events():
            self._driver = self._driver or _driver.Memory()
            return self._driver.place_of(memory.address)
        sequences = self._sequences() if memory.is_foreign else []
        if memory.device >= len(sequences):
            return None
        return Place(0, memory.address, sequences[memory.device], memory.device)
