# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Names single references: an attribute, an item, a variable of a closure. Runs no code of the objects it names.

A retention path has steps that source code does not show, such as an object's __dict__ or the cell of a closure. Such a
step belongs to the link before it, or has no link.
"""

from __future__ import annotations

import _thread
import collections
import contextvars
import functools
import gc
import queue
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, Callable

from tidemark import _heap, _introspect

_LONGEST_STEP = 5  # from a context over the nodes of its table to a value
_ITEMS_OF_MODULES = ("_modules", "_parameters", "_buffers")
_frame_of_generator = {
    types.GeneratorType: types.GeneratorType.__dict__["gi_frame"].__get__,
    types.CoroutineType: types.CoroutineType.__dict__["cr_frame"].__get__,
    types.AsyncGeneratorType: types.AsyncGeneratorType.__dict__["ag_frame"].__get__,
}
_code_of_coroutine = types.CoroutineType.__dict__["cr_code"].__get__
_arguments_of_partial = functools.partial.__dict__["args"].__get__
_keywords_of_partial = functools.partial.__dict__["keywords"].__get__
_function_of_partial = functools.partial.__dict__["func"].__get__
_CACHED_FUNCTION = functools._lru_cache_wrapper
_arguments_of_exception = BaseException.__dict__["args"].__get__


class Link(typing.NamedTuple):
    """One link of a retention path, as in TIDEMARK_REFERRER (recorder/core/records.h).

    function: of an element, the class of its container unless that is a list or a tuple; of a context variable, that of
    the task whose context it is, or "Context".
    """

    kind: str
    name: str
    function: str = ""
    file: str = ""
    line: int = 0


class Places:
    """Finds objects in containers and frames. Reads each container once. Belongs to one search, which retains the
    objects of its paths."""

    def __init__(self, heap: _heap.Heap) -> None:
        self._heap = heap
        self._links: dict[Any, Any] = {}  # ids of an object and its successors in a path: (link, number of steps)
        self._tasks: dict[int, tuple[str, str, int]] | None = None  # places of coroutines, by the id of their context
        self._items: dict[int, Any] = {}  # id of a container: (the container, {id of an item: its key or position})

    def key(self, mapping: Any, value: Any) -> tuple[Any] | None:
        """Returns (key,) of a value, or None."""
        return self._find(mapping, value, lambda: [(v, k) for k, v in list(dict.items(mapping))])

    def position(self, sequence: Any, item: Any) -> tuple[Any] | None:
        """Returns (position,) of an item, or None."""
        iterate = next(base.__iter__ for base in _SEQUENCES if _introspect.is_a(sequence, base))
        return self._find(sequence, item, lambda: [(v, n) for n, v in enumerate(list(iterate(sequence)))])

    def variable(self, frame: FrameType, value: Any) -> str | None:
        """Returns the name of the frame's variable that has this value, or None."""
        addresses = self._heap.variables(frame)
        return _heap.variables_of(frame.f_code)[addresses.index(id(value))] if id(value) in addresses else None

    def task_of(self, context: contextvars.Context) -> tuple[str, str, int]:
        """Returns (function, file, line) of the coroutine that the task with this context runs; ("Context", "", 0) if
        there is none."""
        if self._tasks is None:
            self._tasks = dict(_contexts_of_tasks(self._heap))
        return self._tasks.get(id(context), ("Context", "", 0))

    def once(self, ids: Sequence[int], at: int, name: Callable[[], tuple[Link | None, int]]) -> tuple[Link | None, int]:
        """Returns name(), cached by `ids`: the objects from position `at` on. Many paths share their steps."""
        key = tuple(ids)
        if key not in self._links:
            link, to = name()
            self._links[key] = link, to - at
        link, steps = self._links[key]
        return link, at + steps

    def _find(self, container: Any, item: Any, read: Callable[[], list[tuple[Any, Any]]]) -> Any:
        if id(container) not in self._items:
            try:
                items = read()
            except RuntimeError:  # another thread changed the container
                items = []
            self._items[id(container)] = container, {id(v): (place,) for v, place in reversed(items)}
        return self._items[id(container)][1].get(id(item))


def _contexts_of_tasks(heap: _heap.Heap) -> Iterator[tuple[int, tuple[str, str, int]]]:
    """Yields (id of the context, place of the coroutine) of each task of asyncio."""
    task = getattr(sys.modules.get("_asyncio"), "Task", None)
    for each in heap.instances(task)[0] if type(task) is type else ():
        parts = gc.get_referents(each)
        coroutine = next((part for part in parts if type(part) is types.CoroutineType), None)
        context = next((part for part in parts if type(part) is contextvars.Context), None)
        if coroutine is not None and context is not None:
            code = _code_of_coroutine(coroutine)
            yield id(context), (*function_place(code), code.co_firstlineno)


_SEQUENCES = (list, tuple, collections.deque)
_MAXLEN = collections.deque.maxlen


def link(places: Places, objects: Sequence[Any], at: int) -> tuple[Link | None, int]:
    """Returns the link from objects[at] (None: the step has none) and the position in `objects` that it leads to."""
    return places.once([id(o) for o in objects[at : at + _LONGEST_STEP + 1]], at, lambda: _link(places, objects, at))


def _link(places: Places, objects: Sequence[Any], at: int) -> tuple[Link | None, int]:
    for base, name in _BY_TYPE:
        if _introspect.is_a(objects[at], base):
            named = name(places, objects[at], objects[at + 1 :], at)
            if named is not None:
                return named
    return _of_instance(places, objects[at], objects[at + 1 :], at)


def function_place(code: CodeType) -> tuple[str, str]:
    """Returns (function, file) as in stacks."""
    return _introspect.name_of_function(code), code.co_filename


# Each function below takes (places, owner, the objects after it in the path, its position). It returns the same as
# link(), or None if this type does not know the reference.


def _of_dict(places, owner, rest, at):
    key = places.key(owner, rest[0])
    # Otherwise it is a key itself.
    return (Link("element", "") if key is None else Link("item", _introspect.text_of(key[0]))), at + 1


def _of_sequence(places, owner, rest, at):
    position = places.position(owner, rest[0])
    if position is None:
        return None
    fields = _introspect.type_attributes(type(owner)).get("_fields", ())
    if type(fields) is tuple and position[0] < len(fields):
        return attribute(owner, fields[position[0]]), at + 1
    return Link("index", str(position[0]), _kind_of_sequence(owner)), at + 1


def _kind_of_sequence(owner):
    if not _introspect.is_a(owner, collections.deque):
        return ""
    limit = _MAXLEN.__get__(owner)  # a class of the program may have another attribute of this name
    return "deque" if limit is None else f"deque(maxlen={limit})"


def _of_set(places, owner, rest, at):
    return Link("element", ""), at + 1


def _of_simple_queue(places, owner, rest, at):
    if sys.version_info >= (3, 13):
        return Link("element", "", "SimpleQueue"), at + 1
    if not _introspect.is_exactly(rest[0], list) or len(rest) < 2:
        return None
    return Link("element", "", "SimpleQueue"), at + 2  # over its list, whose positions are no places in the queue


def _without_link(places, owner, rest, at):
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
    key = places.key(within, value) if _introspect.is_a(within, dict) else None
    if key is None:
        return None
    if within is owner.__kwdefaults__:
        return Link("attribute", f"default of {_introspect.name_of(key[0])}", *place), at + 2
    if within is owner.__globals__:
        return Link("global", _introspect.name_of(key[0]), "", place[1]), at + 2
    return Link("attribute", f"{_introspect.name_of(key[0])} of {owner.__qualname__}"), at + 2


def _of_method(places, owner, rest, at):
    return (Link("attribute", f"self of {_callable(owner.__func__)}"), at + 1) if rest[0] is owner.__self__ else None


def _of_partial(places, owner, rest, at):
    called = f"partial({_callable(_function_of_partial(owner))})"
    if len(rest) > 1 and rest[0] is _arguments_of_partial(owner):
        return Link("attribute", f"argument {places.position(rest[0], rest[1])[0]} of {called}"), at + 2
    if len(rest) > 1 and rest[0] is _keywords_of_partial(owner):
        return Link("attribute", f"argument {_introspect.name_of(places.key(rest[0], rest[1])[0])} of {called}"), at + 2
    return (None, at + 1) if rest[0] is _function_of_partial(owner) else None


def _of_cached_function(places, owner, rest, at):
    function = _introspect.attributes(owner).get("__wrapped__")
    if rest[0] is function or rest[0] is _introspect.attributes(owner):
        return None
    # From the cache's dictionary to a key or a result, or from the function itself to one.
    passed = 1 if len(rest) > 1 and _introspect.is_exactly(rest[0], dict) else 0
    key = passed + 1 if len(rest) > passed + 1 and type(rest[passed]) is tuple else passed
    return Link("attribute", f"cache of {_callable(function)}", *place_of_callable(function)), at + 1 + key


def _of_thread_local(places, owner, rest, at):
    if len(rest) < 3 or not all(_introspect.is_exactly(each, dict) for each in rest[:2]):
        return None
    key = places.key(rest[1], rest[2])  # from the table of threads to one thread's attributes
    return None if key is None else (attribute(owner, key[0]), at + 3)


def _of_context(places, owner, rest, at):
    nodes = 0
    while nodes < len(rest) - 1 and _introspect.class_of(rest[nodes]).startswith("hamt"):
        nodes += 1
    for variable, value in list(contextvars.Context.items(owner)):
        if value is rest[nodes]:
            return Link("global", variable.name, *places.task_of(owner)), at + 1 + nodes
    return None


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
    if _introspect.is_a(rest[0], (types.TracebackType, BaseException)):
        return None, at + 1
    return (attribute(owner, "args"), at + 1) if rest[0] is _arguments_of_exception(owner) else None


def _of_class(places, owner, rest, at):
    if _introspect.is_a(rest[0], type) or rest[0] is _introspect.type_bases(owner):
        return None, at + 1
    for name, value in list(_introspect.type_attributes(owner).items()):
        if len(rest) > 1 and value is rest[1]:
            return Link("attribute", f"{name} of {_introspect.type_name(owner)}"), at + 2
    return None


def _of_module(places, owner, rest, at):
    names = _introspect.module_attributes(owner)
    key = places.key(names, rest[1]) if rest[0] is names and len(rest) > 1 else None
    if key is None:
        return None
    return Link("global", _introspect.name_of(key[0]), "", _introspect.name_of(names.get("__name__"))), at + 2


def _of_instance(places, owner, rest, at):
    if rest[0] is type(owner):
        return None, at + 1
    names = _introspect.attributes(owner)
    if rest[0] is names and len(rest) > 1:
        key = places.key(names, rest[1])
        if key is not None:
            return _of_attribute(places, owner, key[0], rest[1:], at + 2)
    for name, value in _introspect.slots(owner):
        if value is rest[0]:
            return _of_attribute(places, owner, name, rest, at + 1)
    key = places.key(names, rest[0])
    if key is not None:
        return _of_attribute(places, owner, key[0], rest, at + 1)
    if _introspect.is_exactly(rest[0], types.CoroutineType, types.GeneratorType, contextvars.Context):
        return None, at + 1  # of a task, for example: the variable inside says more
    if _introspect.is_tensor(owner) and _introspect.is_a(rest[0], dict) and len(rest) > 1:
        return Link("hook", f"gradient hook of {_introspect.class_of(owner)}"), at + 2
    if _introspect.is_tensor(owner) and _introspect.is_context(rest[0]):
        return attribute(owner, "grad_fn"), at + 1
    return _of_attribute_in_c(owner, rest[0]), at + 1


def _of_attribute_in_c(owner, value):
    """Returns the link of a reference that a type of C hides, by the types of both ends."""
    if _introspect.class_of(owner) == "ndarray":
        return attribute(owner, "base")
    if _introspect.class_of(value).endswith("EventLoop"):
        return attribute(owner, "_loop")
    return Link("attribute", f"part of {_introspect.class_of(owner)}")


def _of_attribute(places, owner, name, values, at):
    """Returns the link of an attribute. values[0] is its value, at position `at`. Names items of known dictionaries."""
    is_dict = type(name) is str and _introspect.is_a(values[0], dict) and len(values) > 1
    if is_dict and name.endswith("_hooks"):
        return Link("hook", f"{name.strip('_')[:-1].replace('_', ' ')} of {_introspect.class_of(owner)}"), at + 1
    if is_dict and name in _ITEMS_OF_MODULES:
        key = places.key(values[0], values[1])
        if key is not None:
            return attribute(owner, key[0]), at + 1
    return attribute(owner, name), at


def attribute(owner: Any, name: Any) -> Link:
    """Returns the link from an object to the value of its attribute."""
    owner_name = _introspect.class_of(owner)
    if _introspect.is_context(owner):  # torch derives the name of its class from the function's
        return Link("ctx", f"{_introspect.name_of(name)} of {owner_name.removesuffix('Backward')}")
    return Link("attribute", f"{_introspect.name_of(name)} of {owner_name}")


def _callable(called):
    if type(called) is types.FunctionType:
        return called.__qualname__
    return called.__name__ if type(called) is types.BuiltinFunctionType else _introspect.class_of(called)


def place_of_callable(called: Any) -> tuple[str, str, int]:
    """Returns (function, file, line) of the function that a call runs, through methods and partial objects; empty texts
    for functions of C."""
    while type(called) is types.MethodType or _introspect.is_a(called, functools.partial):
        called = called.__func__ if type(called) is types.MethodType else _function_of_partial(called)
    if type(called) is not types.FunctionType:
        return "", "", 0
    return called.__qualname__, called.__code__.co_filename, called.__code__.co_firstlineno


def text_of_object(item: Any) -> str:
    """Returns what names an object without a variable: the function that it is or calls, or its class."""
    if type(item) is types.FunctionType:
        return item.__qualname__
    if _introspect.is_a(item, functools.partial):
        return f"partial({_callable(_function_of_partial(item))})"
    return _introspect.class_of(item)


_BY_TYPE = (
    (dict, _of_dict),
    (_SEQUENCES, _of_sequence),
    ((set, frozenset), _of_set),
    ((types.CellType, classmethod, staticmethod), _without_link),
    (types.FunctionType, _of_function),
    (types.MethodType, _of_method),
    (functools.partial, _of_partial),
    (_CACHED_FUNCTION, _of_cached_function),
    (_thread._local, _of_thread_local),
    (queue.SimpleQueue, _of_simple_queue),
    (contextvars.Context, _of_context),
    (types.FrameType, _of_frame),
    (tuple(_frame_of_generator), _of_generator),
    (types.TracebackType, _of_traceback),
    (BaseException, _of_exception),
    (type, _of_class),
    (types.ModuleType, _of_module),
)
