# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Labels the memory of parameters, buffers and optimizer state with their names. The plugin follows tensors that move.

Reads attributes only, never a gradient, and runs no code of the objects it reads.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import tidemark._abi as _abi
from tidemark import _introspect, _models, _modules
from tidemark._plugin import Plugin

MOST_IN_HISTORY = 1000  # tensors per list, so that a step costs little

_REGISTRIES = (("_parameters", _abi.CATEGORY_PARAMETER), ("_buffers", _abi.CATEGORY_BUFFER))
_WITHOUT_MEMORY = ("FakeTensor", "FunctionalTensor")


def has_memory(tensor: Any) -> bool:
    """Returns False for tensors without memory, which represent others while torch.compile traces a program."""
    return not any(_introspect.type_name(base) in _WITHOUT_MEMORY for base in _introspect.type_bases(type(tensor)))


class Labels:
    """The labels of one recording. Any thread may call every method. `models`: those with labeled tensors."""

    def __init__(self, torch: Any, plugin: Plugin, modules: _modules.Modules) -> None:
        self._torch = torch
        self._plugin = plugin
        self._modules = modules
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._labeled: dict[int, Any] = {}  # id: (weak reference, name, id of the module that gave the name)
        self._optimizers: dict[int, Any] = {}  # id: (weak reference, size of its state)
        self._states: dict[int, Any] = {}  # id of an optimizer: weak reference to a tensor of its state
        self.models = _models.Models(modules)

    def __contains__(self, tensor: Any) -> bool:
        return id(tensor) in self._labeled

    def tensors(self) -> list[int]:
        """Returns the ids of all labeled tensors."""
        return list(self._labeled)

    def states(self) -> list[Any]:
        """Returns one tensor of each optimizer's state: what retains it retains the optimizer."""
        return [tensor for state in list(self._states.values()) if (tensor := state()) is not None]

    def find_new(self) -> None:
        """Labels parameters and buffers of the modules that are new or changed."""
        for module, owners, path in self._modules.take_changed():
            for registry, category in _REGISTRIES:
                for name, tensor in _modules.registered(module, registry):
                    self._label(tensor, category, f"{path}.{_introspect.name_of(name)}", module)
            self.models.add(module, owners)

    def optimizer_stepped(self, optimizer: Any) -> None:
        """Labels the optimizer's state when its size changed."""
        attributes = _introspect.attributes(optimizer)
        state: Any = attributes.get("state")
        groups: Any = attributes.get("param_groups")
        if not _introspect.is_a(state, dict) or type(groups) is not list:
            return
        parameters: list[Any] = [dict.get(group, "params") for group in groups if _introspect.is_a(group, dict)]
        shape = id(state), dict.__len__(state), sum(map(list.__len__, parameters))
        known, before = self._optimizers.get(id(optimizer), (lambda: None, None))
        if known() is not optimizer or shape != before:
            self._optimizers[id(optimizer)] = weakref.ref(optimizer), shape
            self._label_optimizer(state, parameters)
            self._keep_state(optimizer, state)
        self._label_history(state)

    def _label_optimizer(self, state: Any, groups: list[Any]) -> None:
        self.find_new()
        for i, parameters in enumerate(groups):
            for j, parameter in enumerate(parameters):
                self._label(parameter, _abi.CATEGORY_PARAMETER, f"param_groups[{i}][{j}]")
        for parameter, values in list(dict.items(state)):
            if _introspect.is_a(values, dict):
                for name, value in list(dict.items(values)):
                    self._label_state(value, name, parameter)

    def _keep_state(self, optimizer: Any, state: dict[Any, Any]) -> None:
        values = itertools.chain.from_iterable(
            dict.values(each) for each in list(dict.values(state))[:1] if _introspect.is_a(each, dict)
        )
        # The first one may be the number of steps, which is in host memory.
        for value in values:
            if _introspect.is_tensor(value) and has_memory(value):
                self._states[id(optimizer)] = weakref.ref(value)

    def _label_history(self, state: dict[Any, Any]) -> None:
        """Labels the lists of tensors that an optimizer keeps for its first parameter, as L-BFGS does for all of them:
        each step replaces some of their elements."""
        for parameter, values in itertools.islice(dict.items(state), 1):
            for name, history in dict.items(values) if _introspect.is_a(values, dict) else ():
                for value in history[:MOST_IN_HISTORY] if type(history) is list else ():
                    self._label_state(value, name, parameter)

    def _label_state(self, value: Any, name: Any, parameter: Any) -> None:
        self._label(value, _abi.CATEGORY_OPTIMIZER_STATE, f"{_introspect.name_of(name)} of {self._name(parameter)}")

    def _name(self, tensor: Any) -> str:
        return self._labeled[id(tensor)][1] if id(tensor) in self._labeled else "a tensor"

    def _label(self, tensor: Any, category: int, name: str, module: Any = None) -> None:
        """Labels a tensor, of this module if given. A label stays, unless the same module has another name now."""
        owner = None if module is None else id(module)
        if id(tensor) in self._labeled:
            reference, known, named_by = self._labeled[id(tensor)]
            if owner is None or named_by != owner or known == name:
                return
        elif _introspect.is_tensor(tensor) and has_memory(tensor):
            reference = self._watch(tensor, owner)
        else:
            return
        self._labeled[id(tensor)] = reference, name, owner
        name += _placements(tensor)
        with self._torch._C.DisableTorchFunction():
            self._plugin.label(self._cdata(_owner_of_memory(tensor)), category, name)

    def _watch(self, tensor: Any, owner: int | None) -> weakref.ref[Any]:
        """Returns a weak reference that drops the label with the tensor."""
        key, labeled, modules = id(tensor), self._labeled, self._modules

        def destroyed(_: Any) -> None:
            labeled.pop(key, None)
            if owner is not None:
                modules.lost_tensor(owner)

        return weakref.ref(tensor, destroyed)


def _placements(tensor: Any) -> str:
    """Returns which part of a DTensor is on this device, " as Shard(dim=0)"; "" of other tensors."""
    placements = _introspect.attribute(_introspect.attribute(tensor, "_spec"), "placements")
    if type(placements) is not tuple or not all(type(p).__module__.startswith("torch.") for p in placements):
        return ""
    return " as " + ", ".join(map(repr, placements))


def _owner_of_memory(tensor: Any) -> Any:
    """Returns the tensor that owns the memory. For a DTensor, that is the part on this device."""
    local = _introspect.attribute(tensor, "_local_tensor")
    return local if _introspect.is_tensor(local) else tensor
