"""Waiting for torch: the recorder starts when the program first uses the GPU, whenever it imports what."""

import importlib.abc
import importlib.util
import os
import sys


def arm():
    """Called at the interpreter's start by `tidemark record`."""
    if os.environ.get("TIDEMARK_RECORD") != "1":
        return
    if "driver" in os.environ.get("TIDEMARK_WITH", "driver").split(","):
        from tidemark import _driver

        _driver.name_cupti()
    when_torch_is_imported(_wait_for_cuda)


def _wait_for_cuda(torch):
    when_cuda_is_ready(torch, _begin_quietly)


def when_cuda_is_ready(torch, call):
    """Calls call() once CUDA is initialised: now, if it is, or if this runs as part of it (the lock is held then)."""
    if hasattr(torch.cuda._tls, "is_initializing"):
        call()
    else:
        torch.cuda._lazy_call(call)


def _begin_quietly():
    from tidemark import _recording

    try:
        if _recording.current() is None:
            _recording.begin_from_environment()
    except Exception as failure:  # nothing of ours may end the program
        _recording.say(f"not recording: {failure}")


def when_torch_is_imported(call):
    """Calls call(torch) now, or right after torch's import."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "cuda") and hasattr(torch.cuda, "_lazy_call"):
        call(torch)
    else:
        sys.meta_path.insert(0, _TorchFinder(call))


class _TorchFinder(importlib.abc.MetaPathFinder):
    def __init__(self, call):
        self._call = call

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            spec.loader = _CallingLoader(spec.loader, self._call)
        return spec


class _CallingLoader(importlib.abc.Loader):
    """torch's own loader, with a call behind it."""

    def __init__(self, loader, call):
        self._loader = loader
        self._call = call

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            self._call(module)
        except Exception as failure:  # nothing of ours may end the program
            print(f"tidemark: not recording: {failure}", file=sys.stderr)

    def __getattr__(self, name):
        return getattr(self._loader, name)
