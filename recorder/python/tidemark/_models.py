# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The program's models: the outermost modules, each with one of its tensors. What retains a model retains all of its
tensors, so a heap scan need not search for each of them. Runs no code of the modules."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from tidemark import _introspect, _links, _modules

_MOST_MODELS = 100  # of one scan, so that their paths take little time


class Models:
    """Stores weak references only. modules: knows the owners of all modules."""

    def __init__(self, modules: _modules.Modules) -> None:
        self._modules = modules
        # By the id of an outermost module: its part that is nearest to it and has tensors, and how near that is.
        self._nearest: dict[int, tuple[weakref.ref[Any], int]] = {}

    def add(self, module: Any, owners: list[tuple[Any, Any]]) -> None:
        """Adds the model to which a module belongs. owners: of the module."""
        key = id(owners[-1][0] if owners else module)
        nearest, distance = self._nearest.get(key, (None, 0))
        is_nearer = nearest is None or nearest() is None or len(owners) < distance
        if is_nearer and _tensor_of(module) is not None:
            self._nearest[key] = weakref.ref(module, functools.partial(self._destroyed, key)), len(owners)

    def _destroyed(self, key: int, reference: weakref.ref[Any]) -> None:
        nearest, _ = self._nearest.get(key, (None, 0))
        if nearest is reference:
            self._nearest.pop(key, None)

    def outermost(self) -> list[Any]:
        """Returns the outermost module of each model, from old ones to new ones, evenly chosen if there are many."""
        chosen: dict[int, Any] = {}
        for key in list(self._nearest)[:: len(self._nearest) // _MOST_MODELS + 1]:
            nearest, distance = self._nearest.pop(key, (None, 0))
            module = None if nearest is None else nearest()
            if nearest is not None and module is not None:
                owners = self._modules.owners(module)
                outermost = owners[-1][0] if owners else module
                self._nearest.setdefault(id(outermost), (nearest, distance))
                chosen.setdefault(id(outermost), outermost)
        return list(chosen.values())

    def example_of(self, outermost: Any) -> tuple[Any, tuple[_links.Link, ...]] | None:
        """Returns a tensor of a model that outermost() has returned, and the links to it; None: it has no tensor."""
        nearest, _ = self._nearest.get(id(outermost), (None, 0))
        module = None if nearest is None else nearest()
        found = None if module is None else _tensor_of(module)
        if found is None:
            return None
        name, tensor = found
        steps = [*reversed(self._modules.owners(module)), (module, name)]
        return tensor, tuple(_links.attribute(*step) for step in steps)


def _tensor_of(module: Any) -> tuple[Any, Any] | None:
    """Returns (name, tensor) of a parameter or buffer of the module itself; None: it has none."""
    found = _modules.registered(module, "_parameters") or _modules.registered(module, "_buffers")
    return found[0] if found and _introspect.is_tensor(found[0][1]) else None
