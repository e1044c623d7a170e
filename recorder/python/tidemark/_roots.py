"""Where a search for holders begins: what a person can name without naming another object first."""

import functools
import inspect
import os
import sys
import sysconfig
import types
import typing

from tidemark import _heap, _inside, _links

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD_LIBRARY = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))


class Root(typing.NamedTuple):
    """kind: "local" and "exception" are frames (or the dictionary of a class body), "global" is that of a module,
    "ctx" any object."""

    kind: str
    object: object
    function: str = ""
    file: str = ""
    line: int = 0

    def variables(self):
        """How many the search reads; -1: the root is no frame."""
        return len(_heap.variables_of(self.object.f_code)) if _inside.is_a(self.object, types.FrameType) else -1


def is_own(file):
    return file.startswith(_OWN_FOLDER)


@functools.lru_cache(maxsize=10_000)
def is_users(file):
    """Neither of the standard library nor of an installed package."""
    inside = file.startswith(_STANDARD_LIBRARY) or any(folder in file for folder in _INSTALLED)
    return not inside and not file.startswith("<frozen") and not is_own(file)


def of_frame(kind, frame, line):
    return Root(kind, frame, *_links.function_place(frame.f_code), line or 0)


def running_frames():
    """Of all threads, innermost first, but for our own."""
    for frame in sys._current_frames().values():
        while frame is not None:
            if not is_own(frame.f_code.co_filename):
                yield frame
            frame = frame.f_back


def own_frames():
    for frame in sys._current_frames().values():
        while frame is not None:
            if is_own(frame.f_code.co_filename):
                yield frame
            frame = frame.f_back


def tracebacks():
    """Of the exceptions that threads handle now."""
    for seen in getattr(sys, "_current_exceptions", dict)().values():
        error = seen[1] if type(seen) is tuple else seen
        while error is not None:
            yield BaseException.__dict__["__traceback__"].__get__(error)
            error = BaseException.__dict__["__context__"].__get__(error)


def _of_running(frames):
    for frame in frames:
        root = of_frame("local", frame, frame.f_lineno)
        yield root if frame.f_code.co_flags & inspect.CO_OPTIMIZED else _of_names(frame, root)


def _of_names(frame, root):
    """Of the frame of a module or a class body: its variables lie in a dictionary, which f_locals does not copy."""
    names = frame.f_locals
    if names is frame.f_globals or not _inside.is_a(names, dict):
        return Root("global", frame.f_globals, "", root.file)
    return root._replace(object=names)


def _of_traceback(traceback):
    while traceback is not None:
        yield of_frame("exception", traceback.tb_frame, traceback.tb_lineno)
        traceback = traceback.tb_next


def namespaces():
    """(name, dictionary) of all modules, each once."""
    seen = set()
    for name, module in list(sys.modules.items()):
        if _inside.is_a(module, types.ModuleType):
            names = _inside.module_attributes(module)
            if id(names) not in seen:
                seen.add(id(names))
                yield name, names


def _of_namespace(name, names):
    return Root("global", names, "", _inside.name_of(names.get("__file__") or name))


def _is_ours(name):
    return name == "tidemark" or name.startswith("tidemark.")


def nearest(traceback):
    """Locals of running frames, the exceptions under way, globals of the program's own modules; in this order."""
    frames = list(running_frames())
    roots = list(_of_running(frame for frame in frames if is_users(frame.f_code.co_filename)))
    for one in (traceback, *tracebacks()):
        roots += _of_traceback(one)
    roots += _of_users_modules()
    return roots + list(_of_running(frame for frame in frames if not is_users(frame.f_code.co_filename)))


def _of_users_modules():
    """That of __main__ first: it has no file where the program was typed in."""
    users = []
    for name, names in namespaces():
        root = _of_namespace(name, names)
        if name == "__main__":
            users.insert(0, root)
        elif not _is_ours(name) and os.sep in root.file and is_users(root.file):
            users.append(root)
    return users


def of_contexts(objects):
    """Contexts of autograd functions and the like, which only C++ refers to."""
    return [Root("ctx", context) for context in objects]


def furthest():
    """Globals of all other modules, torch's last."""
    roots = [(name, _of_namespace(name, names)) for name, names in namespaces() if not _is_ours(name)]
    roots.sort(key=lambda root: root[0].split(".")[0] == "torch")
    return [root for _, root in roots]


def barriers():
    """What the search does not enter from elsewhere: a module is one root, not a part of whoever imported it."""
    return [sys.modules, *(names for _, names in namespaces()), *own_frames()]
