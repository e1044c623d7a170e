# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Names the links of retention paths with identifiers of the program: "losses in train", "3", "history of Trainer"."""

from __future__ import annotations

import collections
import types
from collections.abc import Iterator, Sequence
from typing import Any

import tidemark._abi as _abi
from tidemark import _heap, _introspect, _links, _roots
from tidemark._links import Link

ITERATOR = "<iterator>"  # of a `for` loop: it has no variable
_SHORTEST_CHAIN = 3


def links(places: _links.Places, path: _heap.Path, roots: Sequence[_roots.Root]) -> list[Link]:
    """Returns the links of a path, root first. roots: those of the search."""
    first, at = _start(places, path, roots)
    rest = _with_short_chains(list(_rest(places, path, at)))
    # What a generator's variable retains does not need the iterator around the generator.
    is_named = bool(rest) and rest[0].kind == "local" and bool(first) and first[0].name == ITERATOR
    return rest if is_named else [*first, *rest]


def _start(places: _links.Places, path: _heap.Path, roots: Sequence[_roots.Root]) -> tuple[list[Link], int]:
    """Returns the links that name the start of a path, and the position in its objects where the rest begins."""
    if path.start == _abi.HEAP_CYCLE:
        at = _position_on_cycle(path)
        cycle = [*path.objects[at : path.cycle_length], *path.objects[:at]]
        return [Link("cycle", _cycle_name(cycle))], at
    if path.start == _abi.HEAP_NATIVE:
        return _of_native(places, path)
    root = roots[path.root]
    if root.kind == "loop":
        return [Link("local", ITERATOR, root.function, root.file, root.line)], 0
    if root.kind in ("ctx", "context"):  # the link of its attribute or variable has its name
        return [], 0
    if root.kind == "callback":
        return [Link("callback", "atexit", root.function, root.file, root.line)], 0
    if path.variable >= 0:
        return _of_variable(root, path.variable), 0
    return [_of_namespace(places, root, path.objects[1])], 1


def _with_short_chains(links: list[Link]) -> list[Link]:
    """Returns the links with each chain of objects, such as a linked list, as a container that it is: its first link,
    then an element."""
    if len(set(links)) == len(links):
        return links
    short: list[Link] = []
    at = 0
    while at < len(links):
        end = _end_of_chain(links, at)
        is_chain = end - at >= _SHORTEST_CHAIN
        short += [links[at], Link("element", "")] if is_chain else links[at:end]
        at = end
    return short


def _end_of_chain(links: Sequence[Link], at: int) -> int:
    """Returns the position after the equal links of attributes from `at` on, of which some may be left out."""
    link = links[at]
    end: int | None = at + 1
    if link.kind != "attribute" or " of " not in link.name or link.name[0].isdigit():
        return at + 1
    while end is not None:
        after = end
        end = after + 1 if links[after : after + 1] == [link] else _end_of_gap(links, after, link)
    return after


def _end_of_gap(links: Sequence[Link], at: int, link: Link) -> int | None:
    """Returns the position after the next such link if references are left out before it. The links beside these may be
    parts of others."""
    omission = next((i for i in range(at, min(at + 2, len(links))) if _is_omission(links[i])), None)
    if omission is None:
        return None
    return next((i + 1 for i in range(omission, min(omission + 3, len(links))) if links[i] == link), None)


def _omission(count: int) -> Link:
    return Link("attribute", f"… ({count} references left out)")


def _is_omission(link: Link) -> bool:
    return link.name.startswith("… (")


def _rest(places: _links.Places, path: _heap.Path, at: int) -> Iterator[Link]:
    objects = path.objects
    while at < len(objects) - 1:
        if path.omitted and at == _abi.HEAP_NEAR_ROOT - 1:
            yield _omission(path.omitted)
            at += 1
            continue
        link, at = _links.link(places, objects, at)
        if link is not None:
            yield link


def _of_variable(root: _roots.Root, variable: int) -> list[Link]:
    local = Link("local", _heap.variables_of(root.object.f_code)[variable], root.function, root.file, root.line)
    return [local._replace(kind="exception", name=""), local] if root.kind == "exception" else [local]


def _of_namespace(places: _links.Places, root: _roots.Root, value: Any) -> Link:
    key = places.key(root.object, value)
    return Link(root.kind, "" if key is None else _introspect.name_of(key[0]), root.function, root.file, root.line)


def _of_native(places: _links.Places, path: _heap.Path) -> tuple[list[Link], int]:
    at = path.cycle_length
    native = Link("native", _links.text_of_object(path.objects[at]))
    hook = list(_hook_of_node(places, path.objects[at : at + 2])) if len(path.objects) > at + 2 else []
    return [native, *_hook_on(path.objects[:at]), *hook], at + len(hook)


def _hook_of_node(places: _links.Places, start: Sequence[Any]) -> Iterator[Link]:
    """Yields the link of a hook in a table of hooks to which only a node of the graph refers: a table by numbers."""
    hooks, hook = start
    key = places.key(hooks, hook) if _introspect.is_exactly(hooks, collections.OrderedDict) else None
    if key is not None and type(key[0]) is int:
        place = _links.place_of_callable(hook)
        yield Link("hook", f"gradient hook {place[0] or _links.text_of_object(hook)}", *place)


def _hook_on(cycle: Sequence[Any]) -> Iterator[Link]:
    """Yields the link of the hook on a cycle to which C++ refers: a function that uses the tensor it is registered on.
    The tensor's graph refers to the hook."""
    functions = [o for o in cycle if type(o) is types.FunctionType]
    if functions and any(map(_introspect.is_tensor, cycle)):
        yield Link("hook", f"gradient hook {functions[0].__qualname__}", *_links.place_of_callable(functions[0]))


def _cycle_name(objects: Sequence[Any]) -> str:
    """Returns the functions and classes on the cycle. A function's closure is part of the function."""
    closures = {id(o.__closure__) for o in objects if type(o) is types.FunctionType}
    without_names = (dict, types.CellType, type)
    specific = [o for o in objects if not _introspect.is_exactly(o, *without_names) and id(o) not in closures]
    names = [_links.text_of_object(o) for o in specific or objects]
    shown = names if len(names) <= 6 else [*names[:5], "…"]
    return " → ".join([*shown, names[0]])


def _position_on_cycle(path: _heap.Path) -> int:
    """Returns the position at which the path leaves the cycle. Prefers an object to its __dict__, and a function to its
    closure."""
    first = path.objects[path.cycle_length]
    before = path.objects[path.cycle_length - 1]
    is_part = type(first) is dict and _introspect.attributes(before) is first
    is_closure = type(before) is types.FunctionType and before.__closure__ is first
    return path.cycle_length - (is_part or is_closure)
