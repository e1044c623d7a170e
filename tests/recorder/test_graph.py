"""The plugin on a real torch, on the CPU: which nodes it tells, what they keep, when they run and die.

The recorder's core is stood in for by a few functions that keep every record. Needs torch with CUDA's libraries (no
GPU) and a C++ compiler: TIDEMARK_TEST_PYTHON names a Python that has it, else this one is tried.
"""

import collections
import ctypes
import gc
import os
import struct
import subprocess
import sys
import unittest
import weakref

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
sys.path.insert(0, PACKAGE)
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable

try:
    import torch
except ImportError:
    torch = None

NODE, NODE_RUN, NODE_DIED, LABEL = 18, 19, 20, 21
ACCUMULATES, PACKED = 1, 2
HEAD = struct.Struct("=BBHIQ")
NODE_BODY = struct.Struct("=QQQIIIIHHHBB")
SAVED = struct.Struct("=QQQIHBB")

Node = collections.namedtuple("Node", "number type edges saved sequence is_leaf")
Saved = collections.namedtuple("Saved", "name bytes offset version is_view is_packed")
Run = collections.namedtuple("Run", "number released")


class Core:
    """What the plugin needs of recorder/core, and what it was told."""

    def __init__(self):
        self.nodes, self.runs, self.deaths, self.labels, self.texts = {}, [], [], [], {"": 0}
        self._ring = (ctypes.c_uint16 * 8)(1)
        ring = ctypes.addressof(self._ring)
        kinds = (
            (ctypes.CFUNCTYPE(ctypes.c_int), lambda: 1),
            (ctypes.CFUNCTYPE(ctypes.c_void_p), lambda: ring),
            (
                ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32),
                self._push,
            ),
            (ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t), self._text),
            (ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p), lambda ring: 0),
            (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32), lambda wait: 0),
            (ctypes.CFUNCTYPE(None, ctypes.c_void_p), lambda walk: None),
        )
        self._functions = [kind(function) for kind, function in kinds]
        self.table = (ctypes.c_void_p * (len(kinds) + 1))(
            1, *(ctypes.cast(function, ctypes.c_void_p) for function in self._functions)
        )

    def _text(self, ring, text, length):
        return self.texts.setdefault(ctypes.string_at(text, length).decode(), len(self.texts))

    def _name(self, number):
        return next(text for text, known in self.texts.items() if known == number)

    def _push(self, ring, record, payload, size):
        head = ctypes.string_at(record, 16)
        body = ctypes.string_at(record + 16, 48)
        payload = ctypes.string_at(payload, size) if size else b""
        kind, detail, _, _, _ = HEAD.unpack(head)
        if kind == NODE:
            self._on_node(body, payload)
        elif kind == NODE_RUN:
            number = struct.unpack_from("=I", body, 24)[0]
            self.runs.append(Run(number, bool(detail)))
        elif kind == NODE_DIED:
            self.deaths.append(struct.unpack_from("=I", body)[0])
        elif kind == LABEL:
            self.labels.append((detail, self._name(struct.unpack_from("=I", body, 24)[0])))
        return 1

    def _on_node(self, body, payload):
        number, _, _, id, type, _, _, _, edges, saved, _, flags = NODE_BODY.unpack(body)
        reported_edges = [struct.unpack_from("=IHH", payload, 8 * i) for i in range(edges)]
        reported_saved = []
        for i in range(saved):
            _, offset, size, name, version, _, saved_flags = SAVED.unpack_from(payload, 8 * edges + SAVED.size * i)
            reported_saved.append(
                Saved(self._name(name), size, offset, version, bool(saved_flags & 1), bool(saved_flags & PACKED))
            )
        self.nodes[id] = Node(id, self._name(type), reported_edges, reported_saved, number, bool(flags & ACCUMULATES))

    def alive(self):
        """Types of the nodes that were told and have not died, sorted; leaves left out."""
        dead = set(self.deaths)
        return sorted(n.type for n in self.nodes.values() if n.number not in dead and not n.is_leaf)

    def saved_bytes(self):
        return sum(saved.bytes for node in self.nodes.values() for saved in node.saved)


_core = None


def fresh_core():
    """A core that is told everything from here on. One for the process: what died before is forgotten."""
    global _core
    from tidemark import _plugin

    if _core is None:
        _core = Core()
        _core.plugin = _plugin.Plugin(torch)
    _core.plugin.detach()
    gc.collect()
    _core.nodes, _core.runs, _core.deaths, _core.labels = {}, [], [], []
    _core.plugin.attach(torch, _core.table, _plugin.OPS | _plugin.GRAPH)
    return _core


@unittest.skipIf(torch is None, "torch cannot be imported: the plugin's tests are skipped")
class Capture(unittest.TestCase):
    def setUp(self):
        self.core = fresh_core()

    def node(self, type):
        found = [node for node in self.core.nodes.values() if node.type == type]
        self.assertEqual(len(found), 1, f"{type} among {[n.type for n in self.core.nodes.values()]}")
        return found[0]

    def test_a_node_is_reported_with_its_edges_and_what_it_saved(self):
        x = torch.ones(8, 4)
        w = torch.ones(4, 4, requires_grad=True)
        y = (x @ w).exp()
        self.assertEqual(self.core.alive(), ["ExpBackward0", "MmBackward0"])
        mm, exp = self.node("MmBackward0"), self.node("ExpBackward0")
        self.assertEqual(mm.saved, [Saved("self", 128, 0, 0, False, False)])
        self.assertEqual(exp.saved, [Saved("result", 128, 0, 0, False, False)])
        self.assertEqual(exp.edges, [(mm.number, 0, 0)])
        self.assertEqual(mm.edges, [(self.node("AccumulateGrad").number, 1, 0)])
        del y

    def test_views_and_versions(self):
        x = torch.ones(4, 6, requires_grad=True)
        part = x[1:3]
        part.mul(part).sum()
        saved = self.node("MulBackward0").saved
        self.assertEqual([(s.bytes, s.offset, s.is_view) for s in saved], [(48, 24, True)] * 2)
        z = torch.ones(3)
        z += 1
        (z * torch.ones(3, requires_grad=True)).sum()
        versions = [s.version for n in self.core.nodes.values() if n.type == "MulBackward0" for s in n.saved]
        self.assertIn(1, versions)

    def test_runs_releases_and_deaths(self):
        x = torch.ones(3, requires_grad=True)
        y = (x * x).sum()
        mul = self.node("MulBackward0").number
        y.backward(retain_graph=True)
        self.assertIn(Run(mul, False), self.core.runs)
        y.backward()
        self.assertIn(Run(mul, True), self.core.runs)
        self.assertEqual(self.core.alive(), ["MulBackward0", "SumBackward0"])
        del y
        self.assertEqual(self.core.alive(), [])

    def test_the_graph_of_an_op_that_nobody_keeps_is_reported_and_dies(self):
        x = torch.ones(3, requires_grad=True)
        (x * 2).sin()
        self.assertEqual(self.core.alive(), [])
        self.assertEqual(len(self.core.nodes), 3)

    def test_python_functions_are_named_and_looked_into(self):
        class Cube(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, x * x)
                return x**3

            @staticmethod
            def backward(ctx, grad):
                x, square = ctx.saved_tensors
                return 3 * square * grad

        x = torch.ones(5, requires_grad=True)
        y = Cube.apply(x).sum()
        cube = self.node("CubeBackward")
        self.assertEqual([(s.name, s.bytes) for s in cube.saved], [("saved[0]", 20), ("saved[1]", 20)])
        y.backward()
        self.assertIn(Run(cube.number, True), self.core.runs)
        self.assertEqual(x.grad.tolist(), [3.0] * 5)

    def test_a_root_that_is_a_python_function_is_reported_when_asked_for(self):
        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return grad

        y = Same.apply(torch.ones(2, requires_grad=True))
        number, address, sequence, device = self.core.plugin.identify(y._cdata)
        self.assertEqual((self.core.nodes[number].type, device), ("SameBackward", 255))
        self.assertEqual(address, y.data_ptr())

    def test_nothing_is_unpacked(self):
        unpacked = []

        def unpack(packed):
            unpacked.append(packed)
            return packed

        with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, unpack):
            y = (torch.ones(3, requires_grad=True).exp() * 2).sum()
        self.core.plugin.identify(y._cdata)
        self.assertEqual(self.node("ExpBackward0").saved, [Saved("result", 0, 0, 0, False, True)])
        self.assertEqual(unpacked, [])
        y.backward()
        self.assertEqual(len(unpacked), 1)

    def test_lists_of_saved_tensors(self):
        x = torch.ones(4, requires_grad=True)
        index = torch.tensor([0, 2])
        x[index].sum()
        self.assertEqual([s.name for s in self.node("IndexBackward0").saved], ["indices[0]"])

    def test_in_place_on_a_view_keeps_the_node_it_wraps(self):
        x = torch.ones(4, requires_grad=True)
        y = x * 1
        y[:2].exp_()
        kinds = [n.type for n in self.core.nodes.values()]
        self.assertIn("CopySlices", kinds)
        self.assertIn("ExpBackward0", kinds)
        y.sum().backward()
        self.assertAlmostEqual(x.grad[0].item(), 2.71828, 4)

    def test_saved_bytes_equal_those_of_a_counter(self):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Flatten(), torch.nn.Linear(8 * 7 * 7, 32), torch.nn.ComponentNorm(32), torch.nn.GELU(),
            torch.nn.Dropout(0.5), torch.nn.Linear(32, 10),
        )  # fmt: skip
        x, target = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))

        def loss():
            return torch.nn.functional.cross_entropy(model(x), target)

        kept = loss()
        reported = self.core.saved_bytes()
        counted = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: counted.append(t.numel() * t.element_size()) or t, lambda t: t
        ):
            loss()
        self.assertEqual(reported, sum(counted))
        del kept

    def test_lives_are_not_prolonged(self):
        x = torch.ones(1000, requires_grad=True)
        y = x.exp()
        gone = weakref.ref(y)
        storage = weakref.ref(y.untyped_storage())
        del y
        self.assertIsNone(gone())
        self.assertIsNone(storage())
        self.assertEqual(self.core.alive(), [])

    def test_watched_tensors_are_labeled(self):
        layer = torch.nn.Linear(2, 2)
        self.core.plugin.watch(layer.weight._cdata, 1, "Linear.weight")
        self.core.plugin.look_at_watched()
        self.assertEqual(self.core.labels, [(1, "Linear.weight")])
        self.core.plugin.look_at_watched()
        self.assertEqual(len(self.core.labels), 1)
        gone = weakref.ref(layer.weight)
        del layer
        gc.collect()
        self.assertIsNone(gone())
        self.core.plugin.look_at_watched()


def known_deaths():
    """Small programs that return what they keep, and the types of the nodes that keep alive."""
    leaf = torch.ones(3, requires_grad=True)

    def output_kept():
        return (leaf * 2).sum()

    def list_of_outputs():
        return [leaf * n for n in range(3)]

    def only_a_detached_value():
        return (leaf * 2).sum().detach()

    def only_a_number():
        return (leaf * 2).sum().item()

    def middle_kept():
        middle = leaf.exp()
        middle.sin().cos()
        return middle

    def after_backward():
        loss = leaf.exp().sum()
        loss.backward()
        return loss

    def running_total():
        total = 0
        for _ in range(3):
            total = total + leaf.sum()
        return total

    def through_cpu():
        return leaf.exp().cpu().double()

    def grad_fn_kept():
        return leaf.exp().grad_fn

    def under_no_grad():
        with torch.no_grad():
            return leaf.exp()

    def gradient_with_graph():
        (gradient,) = torch.autograd.grad(leaf.exp().sum(), leaf, create_graph=True)
        return gradient

    def cycle_collected():
        y = leaf.exp()
        y.mine = [y]
        del y
        gc.collect()

    return (
        (output_kept, ["MulBackward0", "SumBackward0"]),
        (list_of_outputs, ["MulBackward0"] * 3),
        (only_a_detached_value, []),
        (only_a_number, []),
        (middle_kept, ["ExpBackward0"]),
        (after_backward, ["ExpBackward0", "SumBackward0"]),
        (running_total, ["AddBackward0"] * 3 + ["SumBackward0"] * 3),
        (through_cpu, ["ExpBackward0", "ToCopyBackward0"]),
        (grad_fn_kept, ["ExpBackward0"]),
        (under_no_grad, []),
        (gradient_with_graph, ["ExpBackward0", "MulBackward0"]),
        (cycle_collected, []),
    )


@unittest.skipIf(torch is None, "torch cannot be imported: the plugin's tests are skipped")
class Deaths(unittest.TestCase):
    def test_nodes_alive_are_exactly_the_known_ones(self):
        for program, expected in known_deaths():
            with self.subTest(program.__name__):
                core = fresh_core()
                kept = program()
                gc.collect()
                self.assertEqual(core.alive(), sorted(expected))
                del kept
                gc.collect()
                self.assertEqual(core.alive(), [])


if __name__ == "__main__":
    unittest.main()
elif torch is None and TORCH_PYTHON != sys.executable:

    def load_tests(loader, tests, pattern):
        """Runs in the Python that has torch."""
        done = subprocess.run([TORCH_PYTHON, "-W", "ignore", "-m", "unittest", "-v", "test_graph"])
        suite = unittest.TestSuite()
        suite.addTest(unittest.FunctionTestCase(lambda: unittest.TestCase().assertEqual(done.returncode, 0)))
        return suite
