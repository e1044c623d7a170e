# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""PyTorch's tensors as targets of heap scans."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Collection, Sequence
from typing import Any

import tidemark._abi as _abi
from tidemark import _heap, _labels, _modules
from tidemark._plugin import Plugin
from tidemark._targets import Choice, Target, Wanted


class Tensors:
    """A _targets.KnownByMemory. Not thread-safe. Labeled tensors are left out, except one of each optimizer's state,
    unless they belong to an allocation site that grows. modules: gets the modules that a scan finds."""

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
        examples = set() if wanted.only_blocks else self._labels.examples()
        with self._torch._C.DisableTorchFunction():
            while tensors and not choice.is_full():
                tensor = tensors.pop()
                if _labels.has_memory(tensor):
                    is_labeled = tensor in self._labels
                    is_left_out = is_labeled and id(tensor) not in examples
                    blocks = wanted.blocks if wanted.only_blocks or is_left_out else None
                    choice.add(tensor, self.targets_of(tensor, blocks, with_nodes=not is_labeled))
        tensors.clear()

    def as_blocks(self, addresses: Sequence[int]) -> _heap.Blocks | None:
        """Returns how a search recognizes tensors with this memory. None: it cannot."""
        if self._offset_of_impl == 0:
            return None
        plugin, tensor_type = self._plugin, self._torch._C.TensorBase
        return _heap.Blocks(addresses, tensor_type, plugin.block_of(), plugin.has_node(), self._offset_of_impl)

    def targets_of(self, item: Any, blocks: Collection[int] | None, with_nodes: bool = False) -> list[Target]:
        """Returns the tensor `item` and its gradient, as far as their memory is among `blocks`. None: the tensor, if it
        is on a GPU or belongs to the graph. with_nodes: the tensor also if a recorded node created it, since the graph
        behind it retains memory."""
        with self._torch._C.DisableTorchFunction():
            impl = self._cdata(item)
        place = self._plugin.identify(impl)
        if blocks is None:
            return [Target(place)] if place.node != 0 or place.device != _abi.NO_DEVICE else []
        found = [Target(place)] if place.address in blocks or (with_nodes and place.node != 0) else []
        gradient = self._plugin.gradient_of(impl) if threading.get_ident() != self.polling_thread else 0
        if gradient:
            place = self._plugin.identify(gradient)
            found += [Target(place, True)] if place.address in blocks else []
        return found


def _offset_of_impl(torch: Any, cdata: Any) -> int:
    """Returns where a tensor object stores the address of its TensorImpl; 0: unknown."""
    tensor = torch.empty(0, device="cpu")
    offsets = range(16, type(tensor).__basicsize__, 8)
    impl = cdata(tensor)
    return next((at for at in offsets if ctypes.c_uint64.from_address(id(tensor) + at).value == impl), 0)
