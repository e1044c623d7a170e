# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds and names the program's modules: "GPT.transformer.h.3.mlp". Runs no code of the modules."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

from tidemark import _heap, _introspect


def all_modules(module_type: type, heap: _heap.Heap | None = None) -> list[Any]:
    """Returns all live modules. Takes time proportional to all objects, less of it with `heap`."""
    if heap is not None:
        return heap.instances(module_type)[0]
    return [o for o in gc.get_objects() if issubclass(type(o), module_type)]


def registered(module: Any, registry: str) -> list[tuple[Any, Any]]:
    """Returns (name, value) in a module's _modules, _parameters or _buffers, without values that are None."""
    found: Any = _introspect.attributes(module).get(registry)
    items = list(dict.items(found)) if _introspect.is_a(found, dict) else []
    return [(name, value) for name, value in items if value is not None]


def path_over(module: Any, owners: list[tuple[Any, Any]]) -> str:
    """Returns Modules.path(module) of what Modules.owners(module) returns."""
    outermost = owners[-1][0] if owners else module
    return ".".join([_introspect.class_of(outermost), *(_introspect.name_of(name) for _, name in reversed(owners))])


class Modules:
    """The program's live modules and their names. Any thread may call every method.

    Modules that exist at the start are added once. Later ones report themselves, so that no work is proportional to all
    objects or all modules. Stores weak references only."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Any]] = {}  # by id
        self._owners: dict[int, list[tuple[weakref.ref[Any], Any]]] = {}  # id of a part: (an owner, name there)
        self._changed: dict[int, None] = {}  # ids, in order
        self._paths: dict[int, str] = {}  # by id, when take_changed() returned the module
        self._called: dict[int, None] = {}  # ids of modules that have run

    def at(self, address: int) -> Any | None:
        """Returns the live module with this id, or None."""
        reference = self._known.get(address)
        return None if reference is None else reference()

    def add(self, modules: list[Any]) -> None:
        """Adds modules that are not known yet."""
        for module in modules:
            if id(module) not in self._known:
                self.changed(module)

    def changed(self, module: Any) -> None:
        """Handles that a module is new, or got a parameter or a buffer."""
        self._changed[id(module)] = None
        if id(module) not in self._known:
            self._remember(module)
            for name, part in registered(module, "_modules"):
                self.got_part(module, name, part)

    def lost_tensor(self, module_id: int) -> None:
        """Handles that a parameter or buffer of this module was destroyed: another may be in its place. `.to()` and
        assignments replace buffers without a report of the module."""
        if module_id in self._known:
            self._changed[module_id] = None

    def got_part(self, module: Any, name: Any, part: Any) -> None:
        """Handles that a module gets this part. The first owner of a part that still has it names it."""
        owners = [each for each in self._owners.get(id(part), ()) if _has_part(each[0](), each[1], part)]
        if not owners and id(part) in self._paths and id(part) not in self._called:
            self._changed[id(part)] = None  # it has another path now; a wrapper of a model in use gives no names
        if all(owner() is not module for owner, _ in owners):
            owners.append((weakref.ref(module), name))
        self._owners[id(part)] = owners
        self.add([module, part])

    def called(self, module: Any) -> bool:
        """Handles that a module has run: its construction is over. Returns whether that is new."""
        is_new = id(module) not in self._called
        self._called[id(module)] = None
        return is_new

    def take_changed(self) -> Iterator[tuple[Any, list[tuple[Any, Any]], str]]:
        """Yields (module, its owners(), its path()) of the live modules that are new or got a parameter or a buffer
        since the last call, or whose path has changed: parts are often taken before the module exists that they become
        parts of."""
        changed, self._changed = self._changed, {}
        modules = [module for address in changed if (module := self.at(address)) is not None]
        for module in modules:  # grows
            owners = self.owners(module)
            path = path_over(module, owners)
            if self._paths.setdefault(id(module), path) != path:
                self._paths[id(module)] = path
                modules.extend(part for _, part in registered(module, "_modules") if id(part) in self._paths)
            yield module, owners, path

    def owners(self, module: Any) -> list[tuple[Any, Any]]:
        """Returns (owner, name there) of the module, of its owner and so on, up to the outermost module."""
        owners: list[tuple[Any, Any]] = []
        passed: set[int] = set()
        while id(module) not in passed and (found := self._owner(module)) is not None:
            passed.add(id(module))
            owners.append(found)
            module = found[0]
        return owners

    def path(self, module: Any) -> str:
        """Returns the class of the outermost module followed by the names of its parts."""
        return path_over(module, self.owners(module))

    def _remember(self, module: Any) -> None:
        key = id(module)

        def destroyed(_: Any) -> None:
            for table in (self._known, self._owners, self._changed, self._paths, self._called):
                table.pop(key, None)

        self._known[key] = weakref.ref(module, destroyed)

    def _owner(self, part: Any) -> tuple[Any, Any] | None:
        """Returns the module of which this one is a part, and its name there; None if there is none, or not any more.
        A part that is replaced, or that no module has got yet, has no owner."""
        for reference, name in self._owners.get(id(part), ()):
            owner = reference()
            if _has_part(owner, name, part):
                return owner, name
        return None


def _has_part(owner: Any, name: Any, part: Any) -> bool:
    parts: Any = None if owner is None else _introspect.attributes(owner).get("_modules")
    return _introspect.is_a(parts, dict) and type(name) is str and dict.get(parts, name) is part
