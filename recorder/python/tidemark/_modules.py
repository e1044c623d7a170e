# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Finds and names the program's modules: "GPT.transformer.h.3.mlp". Runs no code of the modules."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

from tidemark import _heap, _introspect


def all_modules(module_type: type, heap: _heap.Heap | None = None) -> list[Any]:
    """Returns all live modules. Finds them faster with `heap`."""
    if heap is not None:
        return heap.instances(module_type)[0]
    return [o for o in gc.get_objects() if issubclass(type(o), module_type)]


def registered(module: Any, registry: str) -> list[tuple[Any, Any]]:
    """Returns (name, value) in a module's _modules, _parameters or _buffers, without values that are None."""
    found: Any = _introspect.attributes(module).get(registry)
    items = list(dict.items(found)) if _introspect.is_a(found, dict) else []
    return [(name, value) for name, value in items if value is not None]


def _roots(modules: list[Any]) -> list[Any]:
    children = {id(child) for module in modules for _, child in registered(module, "_modules")}
    return [module for module in modules if id(module) not in children]


def paths(modules: list[Any]) -> Iterator[tuple[Any, str]]:
    """Yields (module, path), each module once. A path is the class of the model followed by the names of its parts."""
    seen: set[int] = set()
    for root in _roots(modules):
        below = [(root, _introspect.class_of(root))]
        while below:
            module, path = below.pop()
            if id(module) not in seen:
                seen.add(id(module))
                yield module, path
                children = registered(module, "_modules")
                below += [(child, f"{path}.{_introspect.name_of(name)}") for name, child in reversed(children)]


def name_modules(addresses: Iterable[int], module_type: type) -> Iterator[tuple[Any, str]]:
    """Yields (module, path) of the live modules at `addresses`."""
    wanted = set(addresses)
    return ((module, path) for module, path in paths(all_modules(module_type)) if id(module) in wanted)
