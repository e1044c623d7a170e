# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Arrays of CuPy, Numba and JAX as targets of heap scans, with modules that look like these libraries."""

import ctypes
import os
import sys
import types
import unittest
import unittest.mock
import weakref

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))
from tidemark import _abi, _array_imports, _arrays, _heap, _introspect, _jax_arrays, _referrers
from tidemark._parts import Limits
from tidemark._targets import Place

HEAP = _heap.Heap()


class Part:
    """What libraries store in an array."""

    def __init__(self, **values):
        self.__dict__.update(values)


class CupyArray:
    def __init__(self, address, mem=None):
        self.data = Part(ptr=address, device_id=1, mem=mem)


class DLPackMemory:
    pass


class Loud:
    """Whoever runs its code is told so."""

    def __getattr__(self, name):
        raise AssertionError(name)

    @property
    def gpu_data(self):
        raise AssertionError("a property runs code")


class LoudArray(CupyArray, Loud):
    data = property(lambda self: Loud().anything)  # hides what the object stores

    def __init__(self):
        pass


class NumbaArray:
    def __init__(self, pointer):
        self.gpu_data = pointer


class CUdeviceptr:
    def __int__(self):
        return 3000


MODULES = {
    "cupy": types.SimpleNamespace(ndarray=CupyArray),
    "numba.cuda.cudadrv.devicearray": types.SimpleNamespace(DeviceNDArrayBase=NumbaArray),
}


class Core:
    """Driver allocations are the events, or those of PyTorch's allocator. Blocks are 1000 bytes long."""

    def __init__(self, blocks=(), driver=True):
        self.blocks, self.driver, self.messages = blocks, driver, []

    def growing_blocks(self):
        return list(self.blocks)

    def driver_owns_events(self):
        return self.driver

    def push(self, message):
        self.messages.append(message)

    def found(self):
        """Returns ((address, device), "kind:name ...") per path."""
        paths = []
        for record, payload in self.messages:
            if record.kind == _abi.REFERRER:
                texts = payload.decode().split("\0")
                links = " ".join(f"{kind}:{name}" for kind, name in zip(texts[:-1:5], texts[1::5]))
                paths.append(((record.referrer.address, record.referrer.device), links))
        return sorted(paths)


class DriverMemory:
    def place_of(self, address):
        return Place(0, address // 1000 * 1000, 12, 0) if address < 100_000 else None


@unittest.mock.patch.dict(sys.modules, MODULES)
@unittest.mock.patch("tidemark._driver.Memory", DriverMemory)
class Arrays(unittest.TestCase):
    def scan(self, core, limits=None, arrays=None):
        referrers = _referrers.Referrers(core, HEAP, [arrays or _arrays.Arrays(core)])
        self.assertTrue(referrers.scan_growing("allocation sites grow", limits))
        return core.found()

    def test_arrays_have_the_memory_that_contains_their_address(self):
        kept = {"a": CupyArray(5000), "b": [CupyArray(6004), CupyArray(7000)], "unknown": CupyArray(200_000)}
        for limits in None, Limits(1.0, 1.0):
            self.assertEqual(
                self.scan(Core(blocks=(5000, 6000)), limits),
                [((5000, 0), "local:kept item:'a'"), ((6000, 0), "local:kept item:'b' index:0")],
            )
        self.assertEqual(len(kept), 3)

    def test_a_whole_scan_finds_all_arrays(self):
        kept = [CupyArray(5000), CupyArray(6000)]
        core = Core(blocks=(5000,))
        _referrers.Referrers(core, HEAP, [_arrays.Arrays(core)]).scan("asked")
        self.assertEqual([links for _, links in core.found()], ["local:kept index:0", "local:kept index:1"])

    def test_addresses_of_numba(self):
        whole = Part(device_pointer=5000)
        kept = [
            NumbaArray(Part(device_pointer=ctypes.c_size_t(1000))),
            NumbaArray(Part(device_ctypes_pointer=ctypes.c_size_t(2004), _view=None)),
            NumbaArray(Part(device_pointer=CUdeviceptr())),
            NumbaArray(Part(_view=Part(device_pointer=ctypes.c_size_t(4000)))),
            NumbaArray(Part(_view=weakref.proxy(whole))),
        ]
        found = self.scan(Core(blocks=range(0, 9000, 1000)))
        self.assertEqual([place for place, _ in found], [(at, 0) for at in range(1000, 6000, 1000)])
        self.assertEqual(len(kept), 5)

    def test_arrays_without_a_known_address_are_left_out(self):
        gone = weakref.proxy(Part())
        kept = [
            LoudArray(), CupyArray(None), CupyArray("text"), CupyArray(0), NumbaArray(None), NumbaArray(Loud()),
            NumbaArray(Part(device_pointer=1.5)), NumbaArray(Part(_view=gone)),
        ]  # fmt: skip
        core = Core()
        _referrers.Referrers(core, HEAP, [_arrays.Arrays(core)]).scan("asked")
        self.assertEqual(core.found(), [])
        self.assertEqual(len(kept), 8)

    def test_the_scan_retains_no_array(self):
        kept = [CupyArray(5000)]
        watched, blocks = weakref.ref(kept[0]), Core(blocks=(5000,))
        self.scan(blocks)
        kept.clear()
        self.assertIsNone(watched())

    def test_arrays_share_the_memory_of_tensors_by_dlpack(self):
        kept = [CupyArray(5000, DLPackMemory()), CupyArray(6000)]
        core = Core(blocks=(5000, 6000), driver=False)
        self.assertEqual(
            self.scan(core, arrays=_arrays.Arrays(core, lambda: [3, 8])), [((5000, 1), "local:kept index:0")]
        )
        record = next(record for record, _ in core.messages if record.kind == _abi.REFERRER)
        self.assertEqual(record.referrer.sequence, 8)
        core = Core(blocks=(5000,), driver=False)
        self.assertEqual(self.scan(core), [], "without PyTorch's events, nothing has a place")
        self.assertEqual(len(kept), 2)


class Device:
    def __init__(self, platform):
        self.platform = platform


class JaxArray:
    """Stores what JAX's own C++ code returns. shape: of blocks of 1 KiB."""

    def __init__(self, *shape, platform="cuda", is_deleted=False, file="/home/anna/train.py"):
        self.aval = Part(shape=shape, dtype=Part(itemsize=1024))
        self.is_deleted, self._sharding = is_deleted, Part(_device=Device(platform))
        library = Part(file_name=unittest.__file__, function_name="dispatch", line_num=3)
        self.traceback = Part(frames=[library, Part(file_name=file, function_name="step", line_num=62)])


class Run:
    pass


@unittest.mock.patch.dict(sys.modules, {"jaxlib._jax": types.SimpleNamespace(ArrayImpl=JaxArray)})
class JaxArrays(unittest.TestCase):
    def scan(self):
        core = Core()
        _referrers.Referrers(core, HEAP, [_jax_arrays.JaxArrays()]).scan("memory grows")
        return core

    def test_arrays_are_summed_up_by_what_retains_them(self):
        run = Run()
        run.history = [{"loss": JaxArray(), "features": JaxArray(2, 4)} for _ in range(12)]
        run.state = {"w": JaxArray(10), "b": JaxArray(2)}
        alone = JaxArray(7)
        found = self.scan().found()
        self.assertEqual([place for place, _ in found], [(0, _abi.NO_DEVICE)] * 3)
        self.assertEqual(
            [links for _, links in found],
            [
                "local:alone arrays:1 of 7168",
                "local:run attribute:history of Run index:11 arrays:24 of 110592",
                "local:run attribute:state of Run item:'b' arrays:2 of 12288",
            ],
        )
        self.assertIsNotNone(alone)

    def test_the_last_link_says_where_the_largest_array_was_made(self):
        kept = [JaxArray(3), JaxArray(9, file="/home/anna/other.py")]
        core = self.scan()
        payload = next(payload for record, payload in core.messages if record.kind == _abi.REFERRER)
        self.assertEqual(payload.decode().split("\0")[-5:-1], ["2 of 12288", "step", "/home/anna/other.py", "62"])
        self.assertEqual(len(kept), 2)

    def test_small_arrays_and_those_without_memory_on_a_gpu_do_not_count(self):
        kept = [JaxArray(4, platform="cpu"), JaxArray(4, is_deleted=True), JaxArray("n"), JaxArray(0), JaxArray()]
        kept[-1].aval = Part(shape=(255,), dtype=Part(itemsize=4))
        self.assertEqual(self.scan().found(), [])
        self.assertEqual(len(kept), 5)

    def test_sums_of_a_part_of_the_arrays_are_not_sent(self):
        kept = [JaxArray(4) for _ in range(100)]
        for limits, count in ((Limits(60.0, 60.0), 1), (Limits(1e-9, 60.0), 0), (Limits(60.0, 1e-9), 0)):
            core = Core()
            _referrers.Referrers(core, HEAP, [_jax_arrays.JaxArrays()]).scan("memory grows", None, limits)
            self.assertEqual(len(core.found()), count, limits)
        self.assertEqual(len(kept), 100)

    def test_a_growth_scan_counts_them_too(self):
        kept = [JaxArray(4)]
        core = Core(blocks=(5000,))
        _referrers.Referrers(core, HEAP, [_jax_arrays.JaxArrays()]).scan_growing(
            "allocation sites grow", Limits(1.0, 1.0)
        )
        self.assertEqual([links for _, links in core.found()], ["local:kept index:0 arrays:1 of 4096"])
        self.assertEqual(len(kept), 1)


class Attributes(unittest.TestCase):
    def test_what_an_object_stores_is_read_without_running_code(self):
        class Slots:
            __slots__ = ("a", "b")

        stored = Slots()
        stored.a = 4
        self.assertEqual(_introspect.attribute(stored, "a"), 4)
        self.assertEqual(_introspect.attribute(range(3, 5), "start"), 3)
        self.assertEqual(_introspect.attribute(Part(x=1), "x"), 1)
        for item, name in ((stored, "b"), (stored, "c"), (Loud(), "gpu_data"), (None, "x"), (5, "x")):
            self.assertIsNone(_introspect.attribute(item, name))


class Imports(unittest.TestCase):
    def setUp(self):
        self.calls, before = [], list(sys.meta_path)
        self.addCleanup(lambda: sys.meta_path.__setitem__(slice(None), before))

    def test_the_first_import_is_noticed(self):
        with unittest.mock.patch.dict(sys.modules):
            for name in "cupy", "numba.cuda", "numba", "torch", "jaxlib":
                sys.modules.pop(name, None)
            _array_imports.when_imported(lambda: self.calls.append("import"))
            self.assertEqual(self.calls, [])
            for name in "wave", "cupy", "numba.cuda", "cupy":
                sys.modules.pop(name, None)
                try:
                    __import__(name)
                except ImportError:
                    pass
            self.assertEqual(self.calls, ["import"])
        with unittest.mock.patch.dict(sys.modules, {"cupy": types.ModuleType("cupy")}):
            _array_imports.when_imported(lambda: self.calls.append("now"))
        self.assertEqual(self.calls, ["import", "now"])

    def test_a_failure_does_not_end_the_import(self):
        def fail():
            raise RuntimeError("no thread")

        with unittest.mock.patch.dict(sys.modules), unittest.mock.patch("tidemark._console.notify") as notify:
            sys.modules.pop("cupy", None)
            _array_imports.when_imported(fail)
            self.assertIsNone(sys.meta_path[0].find_spec("cupy"))
            notify.assert_called_once()


if __name__ == "__main__":
    unittest.main()
