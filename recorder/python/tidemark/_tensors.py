# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""PyTorch's tensors as targets of heap scans."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Collection, Sequence
from typing import Any

import tidemark._abi as _abi
from tidemark import _heap, _introspect, _labels, _modules
from tidemark._links import Link
from tidemark._plugin import Plugin
from tidemark._targets import Choice, Target, Wanted

_GRADIENT = Link("attribute", "grad of Tensor")  # C++ retains it


class Tensors:
    """A _targets.Recognizable. Not thread-safe. Labeled tensors are left out unless they belong to an allocation site
    that grows: their models and optimizers stand for them. modules: gets the modules that a scan finds."""

    def __init__(self, torch: Any, plugin: Plugin, modules: _modules.Modules, labels: _labels.Labels) -> None:
        self._torch = torch
        self._plugin = plugin
        self._modules = modules
        self._labels = labels
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._offset_of_impl = _offset_of_impl(torch, self._cdata)
        # A scan on this thread does not read gradients: PyTorch releases the interpreter lock while it destroys one
        # that the program's thread replaces, and its field has the old address until then.
        self.polling_thread = 0

    def classes(self) -> tuple[type, ...]:
        """Returns the classes of modules, tensors and contexts of autograd functions."""
        return self._torch.nn.Module, self._torch._C.TensorBase, self._torch._C._FunctionBase

    def choose(self, listed: list[list[Any]], wanted: Wanted, choice: Choice) -> None:
        """Implements _targets.Kind."""
        modules, tensors, choice.autograd_contexts = listed
        self._modules.add(modules)
        modules.clear()
        self._labels.find_new()
        owners = [] if wanted.only_blocks else self.owners()
        for owner in owners:
            choice.add(owner, self.targets_of(owner, None))
        added = {id(owner) for owner in owners}
        del owners
        while tensors and not choice.is_full():
            tensor = tensors.pop()
            if id(tensor) not in added:
                is_left_out = wanted.only_blocks or tensor in self._labels
                choice.add(tensor, self.targets_of(tensor, wanted.blocks if is_left_out else None))
        tensors.clear()

    def owners(self) -> list[Any]:
        """Returns the models, and one tensor of each optimizer's state, which stands for the optimizer."""
        return [*self._labels.states(), *self._labels.models.outermost()]

    def with_memory(self, blocks: Sequence[int]) -> _heap.Recognized | None:
        """Implements _targets.Recognizable. A search also notes tensors that a node created: their graph may retain the
        memory."""
        return self._recognized(self._plugin.has_node(), blocks=blocks, block_of=self._plugin.block_of())

    def without_owner(self) -> _heap.Recognized | None:
        """Implements _targets.Recognizable."""
        return self._recognized(self._plugin.is_recorded(), known=self._labels.tensors())

    def _recognized(self, notes: int, **others: Any) -> _heap.Recognized | None:
        if self._offset_of_impl == 0:
            return None
        return _heap.Recognized(self._torch._C.TensorBase, self._offset_of_impl, notes, **others)

    def targets_of(self, item: Any, blocks: Collection[int] | None) -> list[Target]:
        """Returns a tensor and its gradient, as far as their memory is among `blocks`, and the tensor if a recorded
        node created it, since the graph behind it retains memory. None: the tensor, if it is on a GPU or belongs to
        the graph. Of a model, returns one of its tensors."""
        if not _introspect.is_tensor(item):
            return self._targets_of_model(item)
        if not _labels.has_memory(item):
            return []
        impl = self._impl_of(item)
        place = self._plugin.identify(impl)
        if blocks is None:
            return [Target(place)] if place.node != 0 or place.device != _abi.NO_DEVICE else []
        is_of_graph = place.node != 0 and item not in self._labels
        found = [Target(place)] if place.address in blocks or is_of_graph else []
        gradient = self._plugin.gradient_of(impl) if threading.get_ident() != self.polling_thread else 0
        if gradient:
            place = self._plugin.identify(gradient)
            found += [Target(place, (_GRADIENT,))] if place.address in blocks else []
        return found

    def _targets_of_model(self, outermost: Any) -> list[Target]:
        example = self._labels.models.example_of(outermost)
        if example is None or not _labels.has_memory(example[0]):
            return []
        place = self._plugin.identify(self._impl_of(example[0]))
        return [Target(place, example[1])] if place.device != _abi.NO_DEVICE else []

    def _impl_of(self, tensor: Any) -> int:
        with self._torch._C.DisableTorchFunction():
            return self._cdata(tensor)


def _offset_of_impl(torch: Any, cdata: Any) -> int:
    """Returns where a tensor object stores the address of its TensorImpl; 0: unknown."""
    tensor = torch.empty(0, device="cpu")
    offsets = range(16, type(tensor).__basicsize__, 8)
    impl = cdata(tensor)
    return next((at for at in offsets if ctypes.c_uint64.from_address(id(tensor) + at).value == impl), 0)
