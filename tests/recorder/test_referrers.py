# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Retention paths to objects, as found and named by the heap scan. Needs no torch, no GPU."""

import argparse
import collections
import contextlib
import ctypes
import dataclasses
import dis
import functools
import gc
import os
import sys
import threading
import time
import types
import unittest
import unittest.mock
import weakref

HOME = os.environ["TIDEMARK_HOME"]
sys.path.insert(0, os.path.join(HOME, "python"))

from tidemark import _abi, _heap, _links, _loops, _parts, _referrers

HEAP = _heap.Heap()


class Thing:
    """The target of a search. Tests pass weak references to it, because a variable would be a referrer."""


KEPT_BY_MODULE = {}


def nested(visit):
    """Calls visit() in loops of all kinds."""
    for each in zip((1, 2), "ab"):
        with contextlib.suppress(ValueError):
            for other in {"k": each}.items():
                visit()
                if other[1][0] == 2:
                    raise ValueError
        try:
            visit([visit() for _ in range(2)])
        finally:
            for _ in each:
                visit()
    try:
        for _ in (number for number in range(3)):
            if not visit():
                return
    finally:
        visit()


def full_links(reference, traceback=None, thread=None):
    return _referrers.find(HEAP, [reference()], _referrers.Roots(traceback=traceback, thread=thread)).links[0] or []


def links(reference, **how):
    """Returns (kind, name) of each link."""
    return [link[:2] for link in full_links(reference, **how)]


class Loops(unittest.TestCase):
    def test_what_is_found_are_iterators(self):
        kinds = []

        def visit(*_):
            found = _loops.iterators(HEAP, sys._getframe(1))
            kinds.append([type(each).__name__ for each in found])

        nested(visit)
        # Before 3.12, a comprehension is a function of its own.
        inner = ["range_iterator"] if sys.version_info < (3, 12) else ["zip", "range_iterator"]
        once = [["zip", "dict_itemiterator"], inner, inner, ["zip"], *[["zip", "tuple_iterator"]] * 2]
        self.assertEqual(kinds, [*once, *once, ["generator"], []])  # a `return` drops the iterator

    def test_all_ways_through_a_function_agree(self):
        for module in (argparse, collections, contextlib, dataclasses, functools, threading, unittest.case):
            with open(module.__file__, encoding="utf-8") as file:
                code = [compile(file.read(), module.__file__, "exec")]
            while code:
                each = code.pop()
                code += [constant for constant in each.co_consts if isinstance(constant, types.CodeType)]
                loops = [i for i in dis.get_instructions(each) if i.opname == "FOR_ITER"]
                if loops:
                    offsets, positions = _loops._positions(each)
                    self.assertTrue(positions[offsets.index(loops[0].offset)], each)


class Names(unittest.TestCase):
    def test_containers(self):
        box = [None, {"k": ({2: Thing()},)}]
        self.assertEqual(
            links(weakref.ref(box[1]["k"][0][2])),
            [("local", "box"), ("index", "1"), ("item", "'k'"), ("index", "0"), ("item", "2")],
        )
        queue = collections.deque([1, {Thing()}])
        self.assertEqual(
            links(weakref.ref(next(iter(queue[1])))), [("local", "queue"), ("index", "1"), ("element", "")]
        )
        self.assertEqual(full_links(weakref.ref(next(iter(queue[1]))))[1], ("index", "1", "deque", "", 0))
        last = collections.deque([Thing()], maxlen=3)
        self.assertEqual(full_links(weakref.ref(last[0]))[1], ("index", "0", "deque(maxlen=3)", "", 0))
        keys = {(1, "a"): [Thing()], Thing: 0, "x" * 100: Thing()}
        self.assertEqual(links(weakref.ref(keys[1, "a"][0])), [("local", "keys"), ("item", "(1, 'a')"), ("index", "0")])
        part = Thing()
        mixed = {(1, ("a", part)): [Thing()]}
        self.assertEqual(links(weakref.ref(mixed[1, ("a", part)][0]))[1], ("item", "(1, ('a', Thing))"))
        long = links(weakref.ref(keys["x" * 100]))
        self.assertEqual((long[1][0], len(long[1][1])), ("item", 60))

    def test_a_local_has_function_file_and_line(self):
        thing = Thing()
        found = full_links(weakref.ref(thing))
        line = sys._getframe().f_lineno - 1
        function = "Names.test_a_local_has_function_file_and_line"
        if sys.version_info < (3, 11):
            function = function.split(".")[1]
        self.assertEqual(found, [("local", "thing", function, __file__, line)])

    def test_attributes(self):
        class Slotted:
            __slots__ = ("kept",)

        @dataclasses.dataclass
        class Batch:
            image: object

        Pair = collections.namedtuple("Pair", "left right")
        for make, names in (
            (lambda: types.SimpleNamespace(history=[Thing()]), ["history of SimpleNamespace", "0"]),
            (lambda: Batch([Thing()]), ["image of Batch", "0"]),
            (lambda: Pair(1, [Thing()]), ["right of Pair", "0"]),
        ):
            owner = make()
            self.assertEqual([n for _, n in links(weakref.ref(self.innermost(owner)))], ["owner", *names])
        slotted = Slotted()
        slotted.kept = Thing()
        self.assertEqual(links(weakref.ref(slotted.kept)), [("local", "slotted"), ("attribute", "kept of Slotted")])

    @staticmethod
    def innermost(owner):
        return next(v for v in (vars(owner).values() if hasattr(owner, "__dict__") else owner) if type(v) is list)[0]

    def test_attributes_of_classes(self):
        class Trainer:
            cache = [Thing()]

        trainer = Trainer()
        reference = weakref.ref(Trainer.cache[0])
        del Trainer
        self.assertEqual(links(reference), [("local", "trainer"), ("attribute", "cache of Trainer"), ("index", "0")])

    def test_globals(self):
        KEPT_BY_MODULE["a"] = Thing()
        self.addCleanup(KEPT_BY_MODULE.clear)
        found = full_links(weakref.ref(KEPT_BY_MODULE["a"]))
        self.assertEqual([link[:2] for link in found], [("global", "KEPT_BY_MODULE"), ("item", "'a'")])
        self.assertEqual(found[0].file, __file__)

    def test_globals_of_libraries_come_last(self):
        collections.kept_by_library = [Thing()]
        reference = weakref.ref(collections.kept_by_library[0])
        self.assertEqual(links(reference), [("global", "kept_by_library"), ("index", "0")])
        KEPT_BY_MODULE["deep"] = {"down": [[reference()]]}
        self.addCleanup(KEPT_BY_MODULE.clear)
        self.assertEqual(links(reference)[0], ("global", "KEPT_BY_MODULE"))
        del collections.kept_by_library

    def test_functions(self):
        def closing():
            kept = Thing()
            return lambda: kept

        def defaults(a, b=[Thing()], *, c=Thing()):
            pass

        inner = closing()
        found = full_links(weakref.ref(inner.__closure__[0].cell_contents))
        self.assertEqual([link[:2] for link in found], [("local", "inner"), ("closure", "kept")])
        self.assertEqual((found[1].function, found[1].file), (inner.__qualname__, __file__))
        self.assertEqual(
            links(weakref.ref(defaults.__defaults__[0][0])),
            [("local", "defaults"), ("attribute", "default of b"), ("index", "0")],
        )
        self.assertEqual(
            links(weakref.ref(defaults.__kwdefaults__["c"])), [("local", "defaults"), ("attribute", "default of c")]
        )

    def test_methods_and_partials(self):
        class Hook:
            def call(self):
                pass

        hook = Hook().call
        hook.__self__.seen = Thing()
        self.assertEqual(
            [name for _, name in links(weakref.ref(hook.__self__.seen))],
            ["hook", f"self of {hook.__func__.__qualname__}", "seen of Hook"],
        )
        bound = functools.partial(print, 1, Thing(), end=Thing())
        for thing, name in ((bound.args[1], "1"), (bound.keywords["end"], "end")):
            reference = weakref.ref(thing)
            del thing
            self.assertEqual(
                links(reference), [("local", "bound"), ("attribute", f"argument {name} of partial(print)")]
            )

    def test_cells_of_a_frame_are_its_variables(self):
        kept = Thing()
        reader = lambda: kept
        self.assertEqual(links(weakref.ref(kept)), [("local", "kept")])
        self.assertIsNotNone(reader)

    def test_generators(self):
        def generate():
            inside = Thing()
            yield weakref.ref(inside)

        running = generate()
        found = full_links(next(running))
        self.assertEqual([link[:2] for link in found], [("local", "running"), ("local", "inside")])
        self.assertEqual(found[1].line, running.gi_frame.f_lineno)

    def test_a_loop_over_a_generator(self):
        def generate():
            inside = Thing()
            yield weakref.ref(inside)

        for reference in generate():  # to which no variable refers
            found = full_links(reference)
        self.assertEqual([link[:2] for link in found], [("local", "inside")])
        self.assertTrue(found[0].function.endswith("generate"))

    def test_a_loop_over_an_iterator(self):
        class Loader:
            def __init__(self):
                self.next_batch = Thing()

            def __iter__(self):
                return self

            def __next__(self):
                return weakref.ref(self.next_batch)

        for reference in Loader():
            line = sys._getframe().f_lineno + 1
            found = full_links(reference)
            break
        self.assertEqual([link[:2] for link in found], [("local", "<iterator>"), ("attribute", "next_batch of Loader")])
        self.assertEqual((os.path.basename(found[0].file), found[0].line), ("test_referrers.py", line))

    def test_a_linked_list_is_a_container(self):
        class Node:
            def __init__(self, thing, previous):
                self.thing = thing
                self.previous = previous

        last = None
        things = []
        for _ in range(400):  # more than the objects of a path that are named
            last = Node(Thing(), last)
            things.append(weakref.ref(last.thing))
        chain = [("local", "last"), ("attribute", "previous of Node"), ("element", ""), ("attribute", "thing of Node")]
        for number in (0, 200, 396):
            self.assertEqual(links(things[number]), chain)
        self.assertEqual(links(things[398]), [chain[0], chain[1], chain[3]])

    def test_hooks_of_modules(self):
        class Linear:
            pass

        def hook(seen=[Thing()]):
            pass

        layer = Linear()
        layer._forward_hooks = collections.OrderedDict({7: hook})
        reference = weakref.ref(hook.__defaults__[0][0])
        del hook
        self.assertEqual(
            links(reference),
            [("local", "layer"), ("hook", "forward hook of Linear"), ("attribute", "default of seen"), ("index", "0")],
        )
        layer._parameters = {"weight": Thing()}
        self.assertEqual(
            links(weakref.ref(layer._parameters["weight"])), [("local", "layer"), ("attribute", "weight of Linear")]
        )

    def test_contexts(self):
        class _FunctionBase:
            pass

        class CacheBackward(_FunctionBase):
            pass

        context = CacheBackward()
        context.kept = Thing()
        reference, address = weakref.ref(context.kept), id(context)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(context))  # as torch's C++ does
        del context
        found = _referrers.find(HEAP, [reference()], _referrers.Roots(self.context_at(address))).links[0]
        self.assertEqual(found, [("ctx", "kept of Cache", "", "", 0)])
        ctypes.pythonapi.Py_DecRef(ctypes.cast(address, ctypes.py_object))

    @staticmethod
    def context_at(address):
        return [ctypes.cast(address, ctypes.py_object).value]

    def test_long_paths_are_shortened(self):
        node = last = []
        for _ in range(1000):
            last.append([])
            last = last[0]
        last.append(Thing())
        reference = weakref.ref(last[0])
        del last
        found = links(reference)
        self.assertLessEqual(len(found), 34)
        self.assertIn(("attribute", "… (970 references left out)"), found)
        self.assertIsNotNone(node)


@contextlib.contextmanager
def waiting_thread(work):
    """Runs work(wait) in a thread, and the body of the `with` statement while that waits."""
    waits, may_end = threading.Event(), threading.Event()

    def wait():
        waits.set()
        may_end.wait()

    thread = threading.Thread(target=work, args=(wait,))
    thread.start()
    waits.wait()
    try:
        yield thread
    finally:
        may_end.set()
        thread.join()


class Frames(unittest.TestCase):
    def test_of_other_threads(self):
        seen = []

        def work(wait):
            inside = Thing()
            seen.append(weakref.ref(inside))
            wait()

        with waiting_thread(work):
            self.assertEqual(links(seen[0]), [("local", "inside")])

    def test_of_an_exception_in_flight(self):
        try:
            self.fails()
        except ValueError as error:
            reference = error.args[0]
            del error
            found = links(reference)
        self.assertEqual(found, [("exception", ""), ("local", "inside")])

    def test_of_an_exception_that_another_thread_handles(self):
        seen = []

        def handle(wait):
            try:
                self.fails()
            except ValueError as error:
                seen.append(error.args[0])
                del error
                wait()

        with waiting_thread(handle) as worker:
            self.assertEqual(links(seen[0], thread=threading.get_ident()), [("local", "inside")])
            self.assertEqual(links(seen[0], thread=worker.ident), [("exception", ""), ("local", "inside")])
            self.assertEqual(links(seen[0]), [("exception", ""), ("local", "inside")])

    def test_of_a_traceback(self):
        try:
            self.fails()
        except ValueError as error:
            reference, traceback = error.args[0], error.__traceback__
        found = full_links(reference, traceback=traceback)
        self.assertEqual([link[:2] for link in found], [("exception", ""), ("local", "inside")])
        self.assertTrue(found[0].function.endswith("fails"))
        self.assertEqual(found[0].line, self.fails.__code__.co_firstlineno + 4)

    def test_of_a_retained_exception(self):
        kept = []
        try:
            self.fails()
        except ValueError as error:
            kept.append(error)
        self.assertEqual(
            links(kept[0].args[0]), [("local", "kept"), ("index", "0"), ("exception", ""), ("local", "inside")]
        )

    @staticmethod
    def fails():
        inside = Thing()
        if inside:
            raise ValueError(weakref.ref(inside))

    def test_lifetimes_of_variables_are_not_extended(self):
        thing = Thing()
        reference = weakref.ref(thing)
        self.assertEqual(links(reference), [("local", "thing")])
        del thing
        self.assertIsNone(reference())


class Unreachable(unittest.TestCase):
    def setUp(self):
        gc.disable()
        self.addCleanup(gc.enable)

    def test_cycles(self):
        class Node:
            pass

        def make():
            first, second = Node(), Node()
            first.peers, second.peer = [second], first
            second.kept = Thing()
            return weakref.ref(second.kept)

        found = links(make())
        self.assertEqual(found[0][0], "cycle")
        self.assertIn(
            found[0][1], ("Node → list → Node → Node", "Node → Node → list → Node", "list → Node → Node → list")
        )
        self.assertEqual(found[-1], ("attribute", "kept of Node"))

    def test_objects_retained_from_outside_python(self):
        kept = [[Thing()]]
        reference, address = weakref.ref(kept[0][0]), id(kept[0])
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept[0]))
        del kept
        self.assertEqual(links(reference), [("native", "list"), ("index", "0")])
        ctypes.pythonapi.Py_DecRef(ctypes.cast(address, ctypes.py_object))
        self.assertIsNone(reference())

    def test_a_search_leaves_no_frame_in_a_cycle(self):
        kept = [Thing()]
        gc.collect()
        flags = gc.get_debug()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for target in (kept[0], Thing()):
                _referrers.find(HEAP, [target])
                del target
            gc.collect()
            # A frame in a cycle would retain what the program drops after the search.
            self.assertNotIn(types.FrameType, map(type, gc.garbage))
        finally:
            gc.set_debug(flags)
            gc.garbage.clear()

    def test_unreferenced_objects(self):
        thing = Thing()
        reference, address = weakref.ref(thing), id(thing)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        del thing
        self.assertEqual(links(reference), [])
        ctypes.pythonapi.Py_DecRef(ctypes.cast(address, ctypes.py_object))


class Harmless(unittest.TestCase):
    def test_no_code_of_the_program_runs(self):
        calls = []

        class Loud(type):
            __hash__ = type.__hash__

            def __eq__(cls, other):
                calls.append("equal classes")
                return cls is other

            def __getattribute__(cls, name):
                calls.append(name)
                return super().__getattribute__(name)

        def loud(name, result):
            def method(self, *arguments):
                calls.append(name)
                return result

            return method

        methods = {f"__{n}__": loud(n, r) for n, r in (("repr", ""), ("eq", False), ("bool", True), ("len", 3))}
        methods["__hash__"] = loud("hash", 1)
        methods["__getattribute__"] = lambda self, name: calls.append(name) or object.__getattribute__(self, name)
        methods["__iter__"] = lambda self: iter([calls.append("iter")])
        methods["__class__"] = property(loud("class", int))
        methods["__dict__"] = property(loud("dict", {}))
        methods["__slots__"] = ("kept", "__weakref__")
        Hostile = Loud("Hostile", (), methods)
        hostile = Hostile()
        object.__setattr__(hostile, "kept", {hostile: [Thing()]})
        inner = Hostile.__dict__["kept"].__get__(hostile)
        reference = weakref.ref(next(iter(inner.values()))[0])
        del inner
        calls.clear()
        found = links(reference)
        self.assertEqual(calls, [])
        self.assertEqual(
            found, [("local", "hostile"), ("attribute", "kept of Hostile"), ("item", "Hostile"), ("index", "0")]
        )

    def test_no_reference_count_changes(self):
        things = [Thing() for _ in range(1000)]
        for i, thing in enumerate(things):
            thing.next = things[i - 1], {"key": things[i - 2]}
        thing = None
        before = list(map(sys.getrefcount, things))
        links(weakref.ref(things[500]))
        self.assertEqual(list(map(sys.getrefcount, things)), before)

    def test_a_wrong_layout_is_rejected(self):
        error = ctypes.create_string_buffer(512)
        self.assertFalse(HEAP._prepare(3, 99, error))
        self.assertIn(b"cannot be scanned", error.value)
        if sys.version_info[:2] != (3, 10):
            self.assertFalse(HEAP._prepare(3, 10, error))
            self.assertIn(b"has another object layout", error.value)

    def test_many_targets_in_one_list(self):
        things = [Thing() for _ in range(5000)]
        with HEAP.search(things, []) as search:
            self.assertEqual(search.search_from([_heap.Root(things, -1)]), 0)
            places = _links.Places(HEAP)
            named = [_links.link(places, search.path_to(i).objects, 0)[0].name for i in range(5000)]
        self.assertEqual(named, list(map(str, range(5000))))


class Limits(unittest.TestCase):
    def test_a_search_stops(self):
        target = Thing()
        chain = [target]
        for _ in range(2000):
            chain = [chain]
        for longest_s, missing in ((1e-9, 1), (60.0, 0), (0.0, 0)):
            with HEAP.search([target], []) as search:
                self.assertEqual(search.search_from([_heap.Root(chain, -1)], longest_s), missing)
                self.assertEqual(search.path_to(0) is None, bool(missing))

    def test_limited_scans_say_that_they_are_incomplete(self):
        target = Thing()
        found = _referrers.find(HEAP, [target], parts=limited(60.0, 60.0))
        self.assertTrue(found.is_complete and found.links[0])
        alone = _referrers.find(HEAP, [Thing()], parts=limited(60.0, 60.0))  # only the search knew it
        self.assertFalse(alone.is_complete or alone.links[0])
        late = _referrers.find(HEAP, [target, target], parts=limited(60.0, 0.0))
        self.assertFalse(late.is_complete)
        self.assertTrue(_referrers.find(HEAP, [Thing()]).is_complete)

    def test_parts_leave_time_for_a_search(self):
        self.assertEqual(_parts.Parts().left(), 0.0)
        self.assertGreater(limited(60.0, 60.0).left(), 30.0)
        self.assertLess(limited(60.0, 60.0).left(), 45.0, "what a search has found needs names")
        for parts in limited(1e-9, 60.0), limited(60.0, 1e-9):
            self.assertGreater(parts.left(), 1e-9)
        self.assertTrue(limited(1e-9, 60.0).is_over())
        self.assertFalse(limited(60.0, 60.0).is_over() or _parts.Parts().is_over())
        self.assertTrue(limited(1e-9, 60.0).next() and _parts.Parts().next())
        self.assertFalse(limited(60.0, 0.0).next())

    def test_the_duration_of_a_part_is_what_other_threads_wait_for(self):
        parts = _parts.Parts(runnable_ns=HEAP.runnable_ns)
        time.sleep(0.2)  # others have the interpreter lock
        self.assertLess(parts.longest(), 100_000_000)
        parts.next()
        began = time.thread_time_ns()
        while time.thread_time_ns() - began < 20_000_000:
            pass
        parts.next()
        self.assertGreaterEqual(parts.longest(), 20_000_000)

    def test_other_threads_wait_for_whole_parts(self):
        before = sys.getswitchinterval()
        with _parts.whole_parts():
            self.assertGreater(sys.getswitchinterval(), 2 * _parts.LONGEST_NAMING_S - 0.01)
        self.assertEqual(sys.getswitchinterval(), before)
        try:
            with _parts.whole_parts():
                sys.setswitchinterval(0.001)  # by the program
            self.assertAlmostEqual(sys.getswitchinterval(), 0.001)
        finally:
            sys.setswitchinterval(before)

    def test_the_program_does_not_run_between_the_parts_of_a_short_search(self):
        target, rests = Thing(), []
        with unittest.mock.patch("time.sleep", rests.append):
            self.assertTrue(_referrers.find(HEAP, [target], parts=limited(60.0, 60.0)).links[0])
            self.assertFalse(rests)
            long = limited(60.0, 60.0)
            long._part_began -= 10**9
            _referrers.find(HEAP, [target], parts=long)
        self.assertTrue(rests)


def limited(part_s, total_s):
    return _parts.Parts(_parts.Limits(part_s, total_s))


@unittest.skipIf(
    sys.version_info >= (3, 14), "Python 3.14 keeps its objects in other lists: instances_in_parts() has one part"
)
class Walks(unittest.TestCase):
    """Walks over the collector's own lists."""

    @classmethod
    def setUpClass(cls):
        cls.others = [[lambda: 0] for _ in range(20_000)]

    def things(self, between):
        return HEAP.instances_in_parts(Thing, longest_s=1e-6, between=between)[0]

    def test_a_walk_finds_what_a_list_of_all_objects_has(self):
        things = [Thing() for _ in range(100)]
        parts = []
        for collect in lambda: None, gc.collect:
            collect()
            parts.clear()
            found = self.things(lambda: parts.append(0) or True)
            self.assertEqual(set(map(id, found)), set(map(id, things)))
        self.assertGreater(len(parts), 50)

    def test_objects_of_the_program_come_and_go(self):
        things = [Thing() for _ in range(100)]
        gone = []

        def program():
            if len(gone) < 50:
                gone.append(id(things.pop()))
                things.insert(0, Thing())
            return True

        found = set(map(id, self.things(program)))
        self.assertGreaterEqual(found, set(map(id, things[50:])))
        self.assertEqual(len(gone), 50)

    def test_a_walk_begins_again_after_a_collection(self):
        things = [Thing() for _ in range(100)]
        calls = []

        def collects():
            calls.append(0)
            if len(calls) in (10, 400):
                gc.collect()
            return True

        self.assertEqual(set(map(id, self.things(collects))), set(map(id, things)))
        self.assertNotIn("on_collection", [function.__name__ for function in gc.callbacks])

    def test_a_collection_just_before_a_part_counts(self):
        things = [Thing() for _ in range(100)]
        ends = []
        library = HEAP._library

        class Library:
            tidemark_heap_walk_begin = library.tidemark_heap_walk_begin
            tidemark_heap_walk_end = library.tidemark_heap_walk_end

            def tidemark_heap_walk_part(self, *arguments):
                if len(ends) == 10:
                    gc.collect()
                ends.append(library.tidemark_heap_walk_part(*arguments))
                return ends[-1]

        HEAP._library = Library()
        try:
            found = self.things(lambda: True)
        finally:
            HEAP._library = library
        self.assertEqual(ends[10], _abi.HEAP_WALK_CHANGED)
        self.assertEqual(set(map(id, found)), set(map(id, things)))

    def test_a_walk_survives_a_program_that_moves_its_objects_all_the_time(self):
        self.things(lambda: gc.collect() or True)
        try:
            found = self.things(lambda: gc.freeze() or True)
        finally:
            gc.unfreeze()
        self.assertEqual(found, [])

    def test_a_walk_ends_early(self):
        calls = []
        self.things(lambda: calls.append(0) or len(calls) < 5)
        self.assertEqual(len(calls), 5)

    def test_a_collection_in_progress_in_another_thread(self):
        """Objects that are being destroyed are in none of the lists while their finalizers run."""
        inside, may_end = threading.Event(), threading.Event()

        class Slow:
            def __del__(self):
                inside.set()
                may_end.wait(10)

        def program():
            if not thread.is_alive() and not inside.is_set():
                thread.start()
                inside.wait(10)
            return True

        slow = Slow()
        slow.function = [lambda slow=slow: slow for _ in range(5000)]
        slow.me = slow
        del slow
        things = [Thing() for _ in range(10)]
        thread = threading.Thread(target=gc.collect)
        found = self.things(program)
        may_end.set()
        thread.join()
        self.assertEqual(set(map(id, found)), set(map(id, things)))


if __name__ == "__main__":
    unittest.main()
