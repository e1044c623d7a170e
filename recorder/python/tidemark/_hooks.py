"""Where the package hooks into torch: optimizer steps, backward calls, new modules, the user's profiler."""

import functools
import weakref

from tidemark import _recording, _records

_installed = False


def install(torch):
    """Once per process. The hooks do nothing while no recording runs."""
    global _installed
    if _installed:
        return
    _installed = True
    _hook_optimizers(torch)
    _hook_backward(torch)
    _hook_parameters(torch)
    _hook_profiler(torch)


def _hook_optimizers(torch):
    from torch.optim import optimizer as module

    steps = _StepsOfOptimizers()
    module.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: steps.begins())
    module.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: steps.ends(optimizer))


class _StepsOfOptimizers:
    """A step of the run ends when its leader has stepped: the first optimizer seen, until it is gone."""

    def __init__(self):
        self._leader = None

    def begins(self):
        recording = _recording.current()
        if recording:
            recording.in_optimizer(True)

    def ends(self, optimizer):
        recording = _recording.current()
        if recording:
            recording.in_optimizer(False)
            recording.optimizer_stepped(optimizer)
            if self._leader is None or self._leader() is None:
                self._leader = weakref.ref(optimizer)
            if self._leader() is optimizer:
                recording.step_ended(_records.STEP_SEEN)


def _hook_backward(torch):
    import torch.autograd.graph as graph

    run = graph._engine_run_backward

    @functools.wraps(run)
    def run_and_report(*args, **kwargs):
        recording = _recording.current()
        if not recording:
            return run(*args, **kwargs)
        recording.backward_begins(args[0] if args else ())
        try:
            return run(*args, **kwargs)
        finally:
            recording.backward_ends()

    graph._engine_run_backward = run_and_report
    if getattr(torch.autograd, "_engine_run_backward", None) is run:
        torch.autograd._engine_run_backward = run_and_report


def _hook_parameters(torch):
    from torch.nn.modules import module

    def registered(_module, _name, _parameter):
        recording = _recording.current()
        if recording:
            recording.modules_changed()

    module.register_module_parameter_registration_hook(registered)


def hook_out_of_memory(torch):
    """Once per process, when CUDA is ready."""
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if attach is None or getattr(hook_out_of_memory, "done", False):
        return
    hook_out_of_memory.done = True

    def out_of_memory(_device, _asked, _total, _free):
        recording = _recording.current()
        if recording:
            recording.out_of_memory()

    attach(out_of_memory)


def _hook_profiler(torch):
    """torch.profiler needs CUPTI, which one tool at a time can have: it gets it for as long as it runs."""
    from torch.autograd import profiler as module

    prepare, leave = module.profile._prepare_trace, module.profile.__exit__

    @functools.wraps(prepare)
    def pause_and_prepare(self, *args, **kwargs):
        recording = _recording.current()
        if recording and not getattr(self, "_tidemark_lent", False):
            self._tidemark_paused = True
            recording.pause_driver()
        return prepare(self, *args, **kwargs)

    @functools.wraps(leave)
    def leave_and_take_back(self, *args, **kwargs):
        try:
            return leave(self, *args, **kwargs)
        finally:
            recording = _recording.current()
            if recording and getattr(self, "_tidemark_lent", False):
                self._tidemark_paused = False
                recording.return_driver()

    module.profile._prepare_trace = pause_and_prepare
    module.profile.__exit__ = leave_and_take_back
