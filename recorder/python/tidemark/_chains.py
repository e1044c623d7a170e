"""Chains from roots to tensors in the words of the program: "losses in train", "3", "history of Trainer"."""

import types

from tidemark import _heap, _inside, _links
from tidemark._links import Link


def links(places, chain, roots):
    """Links of a chain, outermost first; `roots` are those its search began from."""
    first, at = _beginning(places, chain, roots)
    return [*first, *_rest(places, chain, at)]


def _beginning(places, chain, roots):
    """The links for what a chain begins with, and the position in its objects from where it goes on."""
    if chain.origin == _heap.CYCLE:
        return [Link("cycle", _cycle_name(chain.objects[: chain.cycle]))], _start_on_cycle(chain)
    if chain.origin == _heap.OUTSIDE:
        return [Link("native", _inside.class_of(chain.objects[chain.cycle]))], chain.cycle
    root = roots[chain.root]
    if root.kind == "ctx":  # its attribute says all
        return [], 0
    if chain.variable >= 0:
        return _of_variable(root, chain.variable), 0
    return [_of_namespace(places, root, chain.objects[1])], 1


def _rest(places, chain, at):
    objects = chain.objects
    while at < len(objects) - 1:
        if chain.left_out and at == _heap.NEAR_ROOT - 1:
            yield Link("attribute", f"… ({chain.left_out} references left out)")
            at += 1
            continue
        link, at = _links.link(places, objects, at)
        if link is not None:
            yield link


def _of_variable(root, variable):
    local = Link("local", _heap.variables_of(root.object.f_code)[variable], root.function, root.file, root.line)
    return [local._replace(kind="exception", name=""), local] if root.kind == "exception" else [local]


def _of_namespace(places, root, value):
    key = places.key(root.object, value)
    return Link(root.kind, "" if key is None else _inside.name_of(key[0]), root.function, root.file, root.line)


def _cycle_name(objects):
    said = [_inside.class_of(o) for o in objects if not _inside.is_exactly(o, dict, types.CellType, type)]
    names = said or [_inside.class_of(o) for o in objects]
    shown = names if len(names) <= 6 else [*names[:5], "…"]
    return " → ".join([*shown, names[0]])


def _start_on_cycle(chain):
    """Not at an object's __dict__, but at the object, which is the one before on the cycle."""
    again = chain.objects[chain.cycle]
    before = chain.objects[chain.cycle - 1]
    return chain.cycle - 1 if type(again) is dict and _inside.attributes(before) is again else chain.cycle
