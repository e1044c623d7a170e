# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Loads the plugin that attaches to torch."""

from __future__ import annotations

import ctypes
from typing import Any

import tidemark._abi as _abi
from tidemark import _build, _core
from tidemark._sentence import Sentence
from tidemark._targets import Place


class Plugin:
    """The loaded plugin. The constructor raises OSError if none can be built for this torch. Methods take tensors as
    their `_cdata`."""

    def __init__(self, torch: Any) -> None:
        self._library = _core.declare(ctypes.PyDLL(_build.built_for(torch)), _abi.PLUGIN_FUNCTIONS)
        if self._library.tidemark_plugin_version() != _abi.PLUGIN_VERSION:
            raise OSError(Sentence("the recorder's plugin is of another version; reinstall Tidemark"))
        self._sequences = (ctypes.c_uint64 * 64)()
        self.check = self._library.tidemark_plugin_check
        self.detach = self._library.tidemark_plugin_detach
        self.backward_begins = self._library.tidemark_plugin_backward_begins
        self.backward_ends = self._library.tidemark_plugin_backward_ends
        self.optimizer = self._library.tidemark_plugin_optimizer
        self.step_ended = self._library.tidemark_plugin_step_ended
        self.end_step = self._library.tidemark_plugin_end_step
        self.suspend = self._library.tidemark_plugin_suspend
        self.records_details = self._library.tidemark_plugin_records_details
        self.phase = self._library.tidemark_plugin_phase
        self.gradient_of = self._library.tidemark_plugin_gradient_of
        self.update_labels = self._library.tidemark_plugin_update_labels
        self.update_labels_of_tensors = self._library.tidemark_plugin_update_labels_of_tensors
        self.update_labels_of_parameters = self._library.tidemark_plugin_update_labels_of_parameters

    def attach(self, torch: Any, core_table: Any, parts: int) -> None:
        """Attaches to torch. parts: a sum of _abi.PLUGIN_ALLOCATOR (requires initialized CUDA), _OPS and _GRAPH.

        Raises OSError."""
        if parts & _abi.PLUGIN_GRAPH:
            self._learn_python_functions(torch)
            self._learn_tensors(torch)
        error = ctypes.create_string_buffer(512)
        if not self._library.tidemark_plugin_attach(core_table, parts, error, len(error)):
            raise OSError(error.value.decode(errors="replace"))

    def sequences(self) -> list[int]:
        """Returns the number of allocator events so far, per device."""
        count = self._library.tidemark_plugin_sequences(self._sequences, len(self._sequences))
        return self._sequences[:count]

    def identify(self, cdata: int) -> Place:
        """Returns the place of a tensor, and records the node that created it."""
        tensor = _abi.Tensor()
        self._library.tidemark_plugin_identify(cdata, ctypes.byref(tensor))
        return Place(tensor.node, tensor.address, tensor.sequence, tensor.device, tensor.storage_bytes, tensor.bytes)

    def label(self, cdata: int, category: int, name: str) -> None:
        """Labels the tensor's memory, also after the tensor gets other memory. category: an _abi.CATEGORY_ constant."""
        self._library.tidemark_plugin_label(cdata, category, name.encode(errors="replace"))

    def block_of(self) -> int:
        """Returns the address of the function that returns the address of a tensor's storage."""
        return ctypes.cast(self._library.tidemark_plugin_block_of, ctypes.c_void_p).value or 0

    def has_node(self) -> int:
        """Returns the address of the function that returns whether a node created a tensor."""
        return ctypes.cast(self._library.tidemark_plugin_has_node, ctypes.c_void_p).value or 0

    def is_recorded(self) -> int:
        """Returns the address of the function that returns whether a tensor is of the graph or on a GPU."""
        return ctypes.cast(self._library.tidemark_plugin_is_recorded, ctypes.c_void_p).value or 0

    def live_nodes(self) -> tuple[int, int]:
        """Returns (number of nodes alive, id of the newest)."""
        alive, newest = ctypes.c_uint64(), ctypes.c_uint64()
        self._library.tidemark_plugin_live_nodes(ctypes.byref(alive), ctypes.byref(newest))
        return alive.value, newest.value

    def _learn_python_functions(self, torch: Any) -> None:
        """Passes one torch.autograd.Function to the plugin, which finds the offset of its saved tensors."""

        class Known(torch.autograd.Function):
            @staticmethod
            def forward(ctx, first, second):
                ctx.save_for_backward(first, second)
                return first + second

        # The program may use CUDA for the first time in inference mode.
        with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
            result = Known.apply(torch.ones(1, requires_grad=True), torch.ones(1))
        ctx = result.grad_fn
        saved = ctx._raw_saved_tensors
        # A pybind object holds the address of what it wraps right after its object header.
        first = ctypes.c_uint64.from_address(id(saved[0]) + 2 * ctypes.sizeof(ctypes.c_void_p)).value
        self._library.tidemark_plugin_learn_python_function(
            result._cdata, id(ctx), type(ctx).__basicsize__, first, len(saved)
        )

    def _learn_tensors(self, torch: Any) -> None:
        """Passes one tensor to the plugin, which finds where Python tensors have the address of their TensorImpl."""
        with torch.device("cpu"):
            tensor = torch.empty(1)
        self._library.tidemark_plugin_learn_tensor_object(
            id(tensor), type(tensor).__basicsize__, tensor._cdata, id(torch._C.TensorBase)
        )
