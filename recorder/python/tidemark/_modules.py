"""Names for the modules that stacks ran through: "GPT.transformer.h.3.mlp"."""

import gc


def _all_modules(module_type):
    # type(), not isinstance(): that may run code of the objects it looks at.
    return [o for o in gc.get_objects() if issubclass(type(o), module_type)]


def _roots(modules):
    children = set()
    for module in modules:
        children.update(id(child) for child in module._modules.values())
    return [module for module in modules if id(module) not in children]


def name_modules(addresses, module_type):
    """Yields (module, path) for those at `addresses` that are alive and part of a model."""
    wanted = set(addresses)
    for root in _roots(_all_modules(module_type)):
        root_name = type(root).__name__
        for path, module in root.named_modules():
            if id(module) in wanted:
                wanted.discard(id(module))
                yield module, f"{root_name}.{path}" if path else root_name
