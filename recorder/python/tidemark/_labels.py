"""What memory is: parameters, buffers and optimizer state by name, told to the plugin, which follows them from there.

Called from anywhere; reads attributes only, never a gradient, and runs no code of the objects it reads.
"""

import time
import weakref

from tidemark import _inside, _modules

PARAMETER, BUFFER, OPTIMIZER_STATE = 1, 2, 4  # tidemark_category of recorder/core/records.h
_WITHOUT_MEMORY = ("FakeTensor", "FunctionalTensor")
_LARGEST_SHARE = 0.01  # of the run's time, for looking through the heap for modules
_FREE_S = 0.05


def has_memory(tensor):
    """Not one of those that only stand for a tensor while a program is traced."""
    return not any(_inside.type_name(base) in _WITHOUT_MEMORY for base in _inside.type_bases(type(tensor)))


class Labels:
    def __init__(self, torch, plugin, heap):
        self._torch = torch
        self._plugin = plugin
        self._heap = heap
        self._cdata = torch._C.TensorBase.__dict__["_cdata"].__get__
        self._watched = {}  # id: (weak reference, name)
        self._optimizers = {}  # id: (weak reference, what was seen of its state)
        self._stale = True  # there may be modules that nobody has looked at
        self._began, self._spent = time.monotonic(), 0.0

    def __contains__(self, tensor):
        return id(tensor) in self._watched

    def modules_changed(self):
        self._stale = True

    def look_for_new(self):
        """Finds parameters and buffers of new modules. Mostly does nothing; may look through the heap."""
        now = time.monotonic()
        if self._stale and self._spent <= _FREE_S + _LARGEST_SHARE * (now - self._began):
            self._stale = False
            self.look_at_modules(_modules.all_modules(self._torch.nn.Module, self._heap))
            self._spent += time.monotonic() - now

    def look_at_modules(self, modules):
        for module, path in _modules.paths(modules):
            for name, tensor in _modules.registered(module, "_parameters"):
                self._watch(tensor, PARAMETER, f"{path}.{_inside.name_of(name)}")
            for name, tensor in _modules.registered(module, "_buffers"):
                self._watch(tensor, BUFFER, f"{path}.{_inside.name_of(name)}")

    def optimizer_stepped(self, optimizer):
        """Finds what the step made, when the amount of it changed."""
        attributes = _inside.attributes(optimizer)
        state, groups = attributes.get("state"), attributes.get("param_groups")
        if not _inside.is_a(state, dict) or type(groups) is not list:
            return
        parameters = [dict.get(group, "params") for group in groups if _inside.is_a(group, dict)]
        seen = id(state), dict.__len__(state), sum(map(list.__len__, parameters))
        known, before = self._optimizers.get(id(optimizer), (lambda: None, None))
        if known() is not optimizer or seen != before:
            self._optimizers[id(optimizer)] = weakref.ref(optimizer), seen
            self._look_at_optimizer(state, parameters)

    def _look_at_optimizer(self, state, groups):
        self.look_for_new()
        for i, parameters in enumerate(groups):
            for j, parameter in enumerate(parameters):
                self._watch(parameter, PARAMETER, f"param_groups[{i}][{j}]")
        for parameter, values in list(dict.items(state)):
            if _inside.is_a(values, dict):
                for name, value in list(dict.items(values)):
                    self._watch(value, OPTIMIZER_STATE, f"{_inside.name_of(name)} of {self._name(parameter)}")

    def _name(self, tensor):
        return self._watched[id(tensor)][1] if id(tensor) in self._watched else "a tensor"

    def _watch(self, tensor, category, name):
        """Once per tensor: the first name stays."""
        if id(tensor) in self._watched or not _inside.is_tensor(tensor) or not has_memory(tensor):
            return
        key, watched = id(tensor), self._watched
        watched[key] = weakref.ref(tensor, lambda _: watched.pop(key, None)), name
        with self._torch._C.DisableTorchFunction():
            for part in _parts(tensor):
                self._plugin.watch(self._cdata(part), category, name)


def _parts(tensor):
    """What holds its memory: of a DTensor, the part on this device."""
    local = [value for name, value in _inside.slots(tensor) if name == "_local_tensor" and _inside.is_tensor(value)]
    return local or [tensor]
