"""What an object is and has, asked without running any code of its class.

getattr(), isinstance(), repr() and == may run what the program defines; the descriptors of CPython's own types do not.
"""

import ctypes
import types

type_name = type.__dict__["__name__"].__get__
type_attributes = type.__dict__["__dict__"].__get__
type_bases = type.__dict__["__mro__"].__get__
module_attributes = types.ModuleType.__dict__["__dict__"].__get__

_generic_dict = ctypes.pythonapi.PyObject_GenericGetDict
_generic_dict.restype = ctypes.py_object
_generic_dict.argtypes = [ctypes.c_void_p, ctypes.c_void_p]  # by id(): py_object asks for __class__


def is_a(instance, base):
    """isinstance() without asking the object what it claims to be."""
    return issubclass(type(instance), base)


def is_exactly(instance, *classes):
    """Of one of the classes, not of one derived from it. `in` would ask a class whether it is equal."""
    return any(type(instance) is one for one in classes)


def class_of(instance):
    """Name of its class."""
    return type_name(type(instance))


def is_tensor(instance):
    """Whether torch made its class, told by name: works without torch."""
    return _descends_from(instance, "TensorBase")


def is_context(instance):
    """The ctx of a torch.autograd.Function, which is its node in the graph, too."""
    return _descends_from(instance, "_FunctionBase")


def _descends_from(instance, name):
    return any(type_name(base) == name for base in type_bases(type(instance)))


def attributes(instance):
    """Its __dict__, or {} where it has none."""
    try:
        found = _generic_dict(id(instance), None)
    except AttributeError:
        return {}
    return found if is_a(found, dict) else {}


def slots(instance):
    """(name, value) of the attributes that lie in __slots__ and have a value."""
    for base in type_bases(type(instance)):
        for name, member in list(type_attributes(base).items()):
            if type(member) is types.MemberDescriptorType:
                try:
                    yield name, member.__get__(instance)
                except AttributeError:
                    pass


def name_of(key):
    """A key that is a name as it is, any other as text_of()."""
    return key if type(key) is str else text_of(key)


def text_of(key):
    """A key as its program writes it, cut to 60 characters; of keys that are no plain values, the class."""
    if not _is_plain(key):
        return class_of(key)
    text = repr(key[:60] if is_exactly(key, str, bytes, tuple) else key)
    return text if len(text) <= 60 else text[:59] + "…"


def _is_plain(key):
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return is_exactly(key, str, bytes, int, float, complex, bool, type(None))
