"""What one reference is called: an attribute, an item, a closure's variable. Runs no code of the objects it names.

A chain of references has steps that nobody writes down (an object's __dict__, the cell of a closure): those belong to
the link of the step before, or go without saying.
"""

import collections
import functools
import sys
import types
import typing

from tidemark import _heap, _inside

_LONGEST_STEP = 3  # from a module over its __dict__ and _parameters to a weight
_ITEMS_OF_MODULES = ("_modules", "_parameters", "_buffers")
_frame_of_generator = {
    types.GeneratorType: types.GeneratorType.__dict__["gi_frame"].__get__,
    types.CoroutineType: types.CoroutineType.__dict__["cr_frame"].__get__,
    types.AsyncGeneratorType: types.AsyncGeneratorType.__dict__["ag_frame"].__get__,
}
_arguments_of_partial = functools.partial.__dict__["args"].__get__
_keywords_of_partial = functools.partial.__dict__["keywords"].__get__
_function_of_partial = functools.partial.__dict__["func"].__get__
_arguments_of_exception = BaseException.__dict__["args"].__get__


class Link(typing.NamedTuple):
    """One link of a chain, as TIDEMARK_HOLDER tells it (recorder/core/records.h)."""

    kind: str
    name: str
    function: str = ""
    file: str = ""
    line: int = 0


class Places:
    """Where things are in containers and frames. Each is read once; what was learnt holds for one search, which keeps
    the objects of its chains alive."""

    def __init__(self, heap):
        self._heap = heap
        self._links = {}  # ids of an object and those that follow it in a chain: (link, how far it leads)
        self._learnt = {}  # id of a container: (the container, {id of an item: its key or position})

    def key(self, mapping, value):
        """(key,) of a value, or None."""
        return self._find(mapping, value, lambda: [(v, k) for k, v in list(dict.items(mapping))])

    def position(self, sequence, item):
        """(position,) of an item, or None."""
        iterate = next(base.__iter__ for base in _SEQUENCES if _inside.is_a(sequence, base))
        return self._find(sequence, item, lambda: [(v, n) for n, v in enumerate(list(iterate(sequence)))])

    def variable(self, frame, value):
        """Name of a frame's variable, or None."""
        addresses = self._heap.variables(frame)
        return _heap.variables_of(frame.f_code)[addresses.index(id(value))] if id(value) in addresses else None

    def once(self, ids, at, name):
        """What name() says of the objects with these ids, the first of which is at position `at`. Chains share steps."""
        key = tuple(ids)
        if key not in self._links:
            link, to = name()
            self._links[key] = link, to - at
        link, steps = self._links[key]
        return link, at + steps

    def _find(self, container, item, read):
        if id(container) not in self._learnt:
            try:
                items = read()
            except RuntimeError:  # another thread changed it meanwhile
                items = []
            self._learnt[id(container)] = container, {id(v): (place,) for v, place in reversed(items)}
        return self._learnt[id(container)][1].get(id(item))


_SEQUENCES = (list, tuple, collections.deque)


def link(places, objects, at):
    """The link from objects[at], or None where it goes without saying; and the position in `objects` it leads to."""
    return places.once([id(o) for o in objects[at : at + _LONGEST_STEP + 1]], at, lambda: _link(places, objects, at))


def _link(places, objects, at):
    for base, name in _BY_TYPE:
        if _inside.is_a(objects[at], base):
            named = name(places, objects[at], objects[at + 1 :], at)
            if named is not None:
                return named
    return _of_instance(places, objects[at], objects[at + 1 :], at)


def function_place(code):
    """(function, file) as stacks name them."""
    return code.co_qualname if sys.version_info >= (3, 11) else code.co_name, code.co_filename


# Each takes (places, owner, what follows it in the chain, its position) and returns as link() does; None: something
# else than this type knows of.


def _of_dict(places, owner, rest, at):
    key = places.key(owner, rest[0])
    return None if key is None else (Link("item", _inside.text_of(key[0])), at + 1)


def _of_sequence(places, owner, rest, at):
    position = places.position(owner, rest[0])
    if position is None:
        return None
    fields = _inside.type_attributes(type(owner)).get("_fields", ())
    if type(fields) is tuple and position[0] < len(fields):
        return _attribute(owner, fields[position[0]]), at + 1
    return Link("index", str(position[0])), at + 1


def _of_set(places, owner, rest, at):
    return Link("element", ""), at + 1


def _unsaid(places, owner, rest, at):
    return None, at + 1


def _of_function(places, owner, rest, at):
    place = (owner.__qualname__, owner.__code__.co_filename, owner.__code__.co_firstlineno)
    if len(rest) < 2:
        return None
    within, value = rest[0], rest[1]
    if within is owner.__closure__:
        return Link("closure", owner.__code__.co_freevars[places.position(within, value)[0]], *place), at + 2
    if within is owner.__defaults__:
        parameters = owner.__code__.co_varnames[: owner.__code__.co_argcount][-len(within) :]
        return Link("attribute", f"default of {parameters[places.position(within, value)[0]]}", *place), at + 2
    key = places.key(within, value) if _inside.is_a(within, dict) else None
    if key is None:
        return None
    if within is owner.__kwdefaults__:
        return Link("attribute", f"default of {_inside.name_of(key[0])}", *place), at + 2
    if within is owner.__globals__:
        return Link("global", _inside.name_of(key[0]), "", place[1]), at + 2
    return Link("attribute", f"{_inside.name_of(key[0])} of {owner.__qualname__}"), at + 2


def _of_method(places, owner, rest, at):
    return (Link("attribute", f"self of {_callable(owner.__func__)}"), at + 1) if rest[0] is owner.__self__ else None


def _of_partial(places, owner, rest, at):
    called = f"partial({_callable(_function_of_partial(owner))})"
    if len(rest) > 1 and rest[0] is _arguments_of_partial(owner):
        return Link("attribute", f"argument {places.position(rest[0], rest[1])[0]} of {called}"), at + 2
    if len(rest) > 1 and rest[0] is _keywords_of_partial(owner):
        return Link("attribute", f"argument {_inside.name_of(places.key(rest[0], rest[1])[0])} of {called}"), at + 2
    return (None, at + 1) if rest[0] is _function_of_partial(owner) else None


def _of_frame(places, owner, rest, at):
    if type(rest[0]) is types.FrameType:
        return None, at + 1
    name = places.variable(owner, rest[0]) or "a value in use"
    return Link("local", name, *function_place(owner.f_code), owner.f_lineno or 0), at + 1


def _of_generator(places, owner, rest, at):
    frame = _frame_of_generator[type(owner)](owner)
    if frame is None or frame is rest[0]:
        return None, at + 1
    return _of_frame(places, frame, rest, at)


def _of_traceback(places, owner, rest, at):
    if type(rest[0]) is not types.FrameType:
        return None, at + 1
    return Link("exception", "", *function_place(rest[0].f_code), owner.tb_lineno or 0), at + 1


def _of_exception(places, owner, rest, at):
    if _inside.is_a(rest[0], (types.TracebackType, BaseException)):
        return None, at + 1
    return (_attribute(owner, "args"), at + 1) if rest[0] is _arguments_of_exception(owner) else None


def _of_class(places, owner, rest, at):
    if _inside.is_a(rest[0], type) or rest[0] is _inside.type_bases(owner):
        return None, at + 1
    for name, value in list(_inside.type_attributes(owner).items()):
        if len(rest) > 1 and value is rest[1]:
            return Link("attribute", f"{name} of {_inside.type_name(owner)}"), at + 2
    return None


def _of_module(places, owner, rest, at):
    names = _inside.module_attributes(owner)
    key = places.key(names, rest[1]) if rest[0] is names and len(rest) > 1 else None
    return None if key is None else (Link("global", _inside.name_of(key[0]), "", _inside.name_of(names.get("__name__"))), at + 2)


def _of_instance(places, owner, rest, at):
    if rest[0] is type(owner):
        return None, at + 1
    names = _inside.attributes(owner)
    if rest[0] is names and len(rest) > 1:
        key = places.key(names, rest[1])
        if key is not None:
            return _of_attribute(places, owner, key[0], rest[1:], at + 2)
    for name, value in _inside.slots(owner):
        if value is rest[0]:
            return _of_attribute(places, owner, name, rest, at + 1)
    key = places.key(names, rest[0])
    if key is not None:
        return _of_attribute(places, owner, key[0], rest, at + 1)
    if _inside.is_tensor(owner) and _inside.is_a(rest[0], dict) and len(rest) > 1:
        return Link("hook", f"gradient hook of {_inside.class_of(owner)}"), at + 2
    if _inside.is_tensor(owner) and _inside.is_context(rest[0]):
        return _attribute(owner, "grad_fn"), at + 1
    return Link("attribute", f"part of {_inside.class_of(owner)}"), at + 1


def _of_attribute(places, owner, name, values, at):
    """Of an attribute whose value, values[0], is at position `at`. Some are known to be dictionaries of things."""
    is_dict = type(name) is str and _inside.is_a(values[0], dict) and len(values) > 1
    if is_dict and name.endswith("_hooks"):
        return Link("hook", f"{name.strip('_')[:-1].replace('_', ' ')} of {_inside.class_of(owner)}"), at + 1
    if is_dict and name in _ITEMS_OF_MODULES:
        key = places.key(values[0], values[1])
        if key is not None:
            return _attribute(owner, key[0]), at + 1
    return _attribute(owner, name), at


def _attribute(owner, name):
    owner_name = _inside.class_of(owner)
    if _inside.is_context(owner):  # torch names its class by the function's
        return Link("ctx", f"{_inside.name_of(name)} of {owner_name.removesuffix('Backward')}")
    return Link("attribute", f"{_inside.name_of(name)} of {owner_name}")


def _callable(called):
    if type(called) is types.FunctionType:
        return called.__qualname__
    return called.__name__ if type(called) is types.BuiltinFunctionType else _inside.class_of(called)


_BY_TYPE = (
    (dict, _of_dict),
    (_SEQUENCES, _of_sequence),
    ((set, frozenset), _of_set),
    ((types.CellType, classmethod, staticmethod), _unsaid),
    (types.FunctionType, _of_function),
    (types.MethodType, _of_method),
    (functools.partial, _of_partial),
    (types.FrameType, _of_frame),
    (tuple(_frame_of_generator), _of_generator),
    (types.TracebackType, _of_traceback),
    (BaseException, _of_exception),
    (type, _of_class),
    (types.ModuleType, _of_module),
)
