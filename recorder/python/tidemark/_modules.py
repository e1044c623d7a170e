"""The program's modules by the names people know: "GPT.transformer.h.3.mlp". Runs no code of theirs."""

import gc

from tidemark import _inside


def all_modules(module_type, heap=None):
    """Every module that lives; fast where the heap can be searched."""
    if heap is not None:
        return heap.instances(module_type)[0]
    return [o for o in gc.get_objects() if issubclass(type(o), module_type)]


def registered(module, registry):
    """(name, value) in a module's _modules, _parameters or _buffers; without those that are None."""
    found = _inside.attributes(module).get(registry)
    items = list(dict.items(found)) if _inside.is_a(found, dict) else []
    return [(name, value) for name, value in items if value is not None]


def _roots(modules):
    children = {id(child) for module in modules for _, child in registered(module, "_modules")}
    return [module for module in modules if id(module) not in children]


def paths(modules):
    """(module, path) of all of them, each once: the class of a model, then the names of its parts."""
    seen = set()
    for root in _roots(modules):
        below = [(root, _inside.class_of(root))]
        while below:
            module, path = below.pop()
            if id(module) not in seen:
                seen.add(id(module))
                yield module, path
                children = registered(module, "_modules")
                below += [(child, f"{path}.{_inside.name_of(name)}") for name, child in reversed(children)]


def name_modules(addresses, module_type):
    """Yields (module, path) for those at `addresses` that are alive and part of a model."""
    wanted = set(addresses)
    return ((module, path) for module, path in paths(all_modules(module_type)) if id(module) in wanted)
