# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Hooks into torch: optimizer steps, backward calls, new modules, the user's profiler, ranks, out-of-memory errors.

They stay until the process ends. They report to the recording that report_to() set last.
"""

from __future__ import annotations

import functools
import os
import weakref
from typing import Any, Protocol

from tidemark import _collectives, _records


class Listener(_collectives.RanksListener, Protocol):
    """Receives the reports of the hooks, on the thread where the event happens."""

    def in_optimizer(self, inside: bool) -> None:
        """Handles that an optimizer's step begins (True) or ends."""

    def optimizer_stepped(self, optimizer: Any) -> None:
        """Handles the end of this optimizer's step."""

    def step_ended(self, source: int) -> None:
        """Handles the end of a training step. source: _records.STEP_SEEN or STEP_REPORTED."""

    def backward_begins(self, roots: Any) -> None:
        """Handles the begin of a backward pass from these tensors."""

    def backward_ends(self) -> None:
        """Handles the end of the pass, also after an exception."""

    def module_changed(self, module: Any) -> None:
        """Handles that a module is new, or got a parameter or a buffer."""

    def module_got_part(self, module: Any, name: str, part: Any) -> None:
        """Handles that a module gets another one as its part."""

    def pause_driver(self) -> None:
        """Releases CUPTI for the user's profiler."""

    def resume_driver(self) -> None:
        """Handles the end of the profiler."""

    def out_of_memory(self) -> None:
        """Handles an out-of-memory error before the allocator raises it."""


_listener: Listener | None = None
_installed = False
_observes_out_of_memory = False


def report_to(listener: Listener | None) -> None:
    """Sets the recording that the hooks report to; None: to none."""
    global _listener
    _listener = listener


def install(torch: Any) -> None:
    """Installs all hooks that need no GPU, once per process. The hooks do nothing while no recording runs, and in a
    forked child."""
    global _installed
    if _installed:
        return
    _installed = True
    os.register_at_fork(after_in_child=lambda: report_to(None))
    _hook_optimizers()
    _hook_backward(torch)
    _hook_modules(torch)
    _hook_profiler()
    _collectives.install(torch, lambda: _listener)


def observe_out_of_memory(torch: Any) -> None:
    """Attaches an observer to the allocator, once per process. Requires that CUDA is initialized."""
    global _observes_out_of_memory
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if attach is None or _observes_out_of_memory:
        return
    _observes_out_of_memory = True

    def out_of_memory(_device: int, _asked: int, _total: int, _free: int) -> None:
        if listener := _listener:
            listener.out_of_memory()

    attach(out_of_memory)


def _hook_optimizers() -> None:
    from torch.optim import optimizer as module

    steps = _OptimizerSteps()
    module.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: steps.begins())
    module.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: steps.ends(optimizer))


class _OptimizerSteps:
    """Counts the steps of one optimizer as training steps: of the first one, as long as it is alive and steps. Another
    one takes its place when it has stepped alone for much longer than the optimizers of one program take turns."""

    _FEWEST_ALONE = 12

    def __init__(self) -> None:
        self._counted: weakref.ref[Any] | None = None
        self._last: weakref.ref[Any] | None = None  # that stepped last
        self._alone = 0  # its steps in a row
        self._longest_turn = 0  # most steps of another one between two of the counted one

    def begins(self) -> None:
        if listener := _listener:
            listener.in_optimizer(True)

    def ends(self, optimizer: Any) -> None:
        listener = _listener
        if listener is None:
            return
        listener.in_optimizer(False)
        listener.optimizer_stepped(optimizer)
        if self._is_counted(optimizer):
            listener.step_ended(_records.STEP_SEEN)

    def _is_counted(self, optimizer: Any) -> bool:
        counted = None if self._counted is None else self._counted()
        is_same = self._last is not None and self._last() is optimizer
        if counted is optimizer and is_same:
            return True
        if counted is optimizer:
            self._longest_turn = max(self._longest_turn, self._alone)
        self._alone = self._alone + 1 if is_same else 1
        self._last = weakref.ref(optimizer)
        if counted is None or self._alone > max(self._FEWEST_ALONE, 2 * self._longest_turn):
            self._counted = self._last
            return True
        return counted is optimizer


def _hook_backward(torch: Any) -> None:
    import torch.autograd.graph as graph

    run = graph._engine_run_backward

    @functools.wraps(run)
    def run_and_report(*args: Any, **kwargs: Any) -> Any:
        listener = _listener
        if listener is None:
            return run(*args, **kwargs)
        listener.backward_begins(args[0] if args else ())
        try:
            return run(*args, **kwargs)
        finally:
            listener.backward_ends()

    graph._engine_run_backward = run_and_report
    if getattr(torch.autograd, "_engine_run_backward", None) is run:
        torch.autograd._engine_run_backward = run_and_report


def _hook_modules(torch: Any) -> None:
    """Reports modules that register something, are copied or unpickled. A module that does none of it is not new to
    anyone, so the next heap scan finds it."""
    from torch.nn.modules import module as torch_modules

    def got_tensor(module: Any, _name: str, _tensor: Any) -> None:
        if listener := _listener:
            listener.module_changed(module)

    def got_part(module: Any, name: str, part: Any) -> None:
        listener = _listener
        if listener is not None and part is not None:
            listener.module_got_part(module, name, part)

    torch_modules.register_module_parameter_registration_hook(got_tensor)
    torch_modules.register_module_buffer_registration_hook(got_tensor)
    torch_modules.register_module_module_registration_hook(got_part)
    _hook_copies(torch.nn.Module)


def _hook_copies(module_type: Any) -> None:
    set_state = module_type.__setstate__

    @functools.wraps(set_state)
    def set_state_and_report(self: Any, state: Any) -> None:
        set_state(self, state)
        if listener := _listener:
            listener.module_changed(self)

    module_type.__setstate__ = set_state_and_report


def _hook_profiler() -> None:
    """Pauses the driver part while torch.profiler runs: CUPTI allows one subscriber."""
    from torch.autograd import profiler

    module: Any = profiler
    prepare, leave = module.profile._prepare_trace, module.profile.__exit__

    @functools.wraps(prepare)
    def pause_and_prepare(self: Any, *args: Any, **kwargs: Any) -> Any:
        listener = _listener
        if listener is not None and not getattr(self, "_tidemark_paused", False):
            self._tidemark_paused = True
            listener.pause_driver()
        return prepare(self, *args, **kwargs)

    @functools.wraps(leave)
    def leave_and_resume(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return leave(self, *args, **kwargs)
        finally:
            listener = _listener
            if listener is not None and getattr(self, "_tidemark_paused", False):
                self._tidemark_paused = False
                listener.resume_driver()

    module.profile._prepare_trace = pause_and_prepare
    module.profile.__exit__ = leave_and_resume
