# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Reads the class and the attributes of an object without running any code of its class.

getattr(), isinstance(), repr() and == may run code of the program. The descriptors of CPython's own types do not.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Iterator
from typing import Any

type_name = type.__dict__["__name__"].__get__
type_attributes = type.__dict__["__dict__"].__get__
type_bases = type.__dict__["__mro__"].__get__
module_attributes: Any = vars(types.ModuleType)["__dict__"].__get__

_generic_dict = ctypes.pythonapi.PyObject_GenericGetDict
_generic_dict.restype = ctypes.py_object
_generic_dict.argtypes = [ctypes.c_void_p, ctypes.c_void_p]  # takes id(): py_object would read __class__


def is_a(instance: Any, base: Any) -> bool:
    """Works like isinstance(), but ignores an overridden __class__."""
    return issubclass(type(instance), base)


def is_exactly(instance: Any, *classes: type) -> bool:
    """Returns whether the class is one of `classes`. Uses `is`: `in` would call == of a metaclass."""
    return any(type(instance) is one for one in classes)


def class_of(instance: Any) -> str:
    """Returns the name of the class."""
    return type_name(type(instance))


def name_of_function(code: types.CodeType) -> str:
    """Returns the function's name as in stacks: qualified, which only Python 3.11 and later store."""
    return code.co_qualname if sys.version_info >= (3, 11) else code.co_name


def is_tensor(instance: Any) -> bool:
    """Returns whether the object is a tensor. Compares names, so it works without torch."""
    return _descends_from(instance, "TensorBase")


def is_context(instance: Any) -> bool:
    """Returns whether the object is the ctx of a torch.autograd.Function (also its node in the graph)."""
    return _descends_from(instance, "_FunctionBase")


def _descends_from(instance: Any, name: str) -> bool:
    return any(type_name(base) == name for base in type_bases(type(instance)))


def attributes(instance: Any) -> dict[Any, Any]:
    """Returns the object's __dict__, or {} if it has none."""
    try:
        found = _generic_dict(id(instance), None)
    except AttributeError:
        return {}
    return found if is_a(found, dict) else {}


def slots(instance: Any) -> Iterator[tuple[str, Any]]:
    """Yields (name, value) of the attributes in __slots__ that have a value."""
    for base in type_bases(type(instance)):
        for name, member in list(type_attributes(base).items()):
            if type(member) is types.MemberDescriptorType:
                try:
                    yield name, member.__get__(instance)
                except AttributeError:
                    pass


def attribute(instance: Any, name: str) -> Any:
    """Returns the value of an attribute that the object stores: in its __dict__, in a slot or in a member of a class of
    C. Returns None if it stores no such attribute: a property would run code."""
    for base in type_bases(type(instance)):
        member = type_attributes(base).get(name)
        if is_exactly(member, types.MemberDescriptorType, types.GetSetDescriptorType):
            try:
                return member.__get__(instance)
            except AttributeError:
                return None
    return attributes(instance).get(name)


def name_of(key: Any) -> str:
    """Returns the key itself if it is a string, else text_of(key)."""
    return key if type(key) is str else text_of(key)


def text_of(key: Any) -> str:
    """Returns repr(key), cut to 60 characters, if the key is a plain value, else the name of its class. The same for
    the parts of a tuple: "(4, Tensor)"."""
    if _is_plain(key):
        text = repr(key[:60] if is_exactly(key, str, bytes, tuple) else key)
    elif type(key) is tuple:
        text = f"({', '.join(map(text_of, key[:60]))})"
    else:
        return class_of(key)
    return text if len(text) <= 60 else text[:59] + "…"


def _is_plain(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return is_exactly(key, str, bytes, int, float, complex, bool, type(None))
