# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The plugin with a real torch on the CPU: nodes, their saved tensors, and when they are executed and destroyed.

A few functions replace the recorder's core and store every record. Needs torch with CUDA's libraries (no GPU) and a
C++ compiler: TIDEMARK_TEST_PYTHON names a Python that has it; without it, this Python is tried.
"""

import collections
import ctypes
import gc
import os
import subprocess
import sys
import time
import unittest
import weakref

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
sys.path.insert(0, PACKAGE)
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable

from tidemark import _abi, _labels

try:
    import torch
except ImportError:
    torch = None

Node = collections.namedtuple("Node", "number type edges saved sequence is_leaf stack op")
Saved = collections.namedtuple("Saved", "name bytes offset version is_view is_packed")
Run = collections.namedtuple("Run", "number released")
Cost = collections.namedtuple("Cost", "kind duration longest count")


class Core:
    """The functions of recorder/core that the plugin needs, and the pushed records."""

    def __init__(self):
        self.nodes, self.runs, self.destroyed, self.labels, self.texts = {}, [], [], [], {"": 0}
        self.costs, self.ops, self.lines, self.saved_addresses = [], {}, {}, set()
        self._ring = _abi.Ring(1, ctypes.pointer(ctypes.c_uint32(0)))
        # A callback cannot return a typed pointer, so this one returns an address.
        ring = ctypes.addressof(self._ring)
        self._this_thread = ctypes.PYFUNCTYPE(ctypes.c_void_p)(lambda: ring)
        types = dict(_abi.Api._fields_)
        self._api = _abi.Api(
            version=_abi.CORE_VERSION,
            recording=types["recording"](lambda: 1),
            this_thread=ctypes.cast(self._this_thread, types["this_thread"]),
            push=types["push"](self._push),
            text=types["text"](self._text),
            stack=types["stack"](self._stack),
            sample_now=types["sample_now"](lambda wait: 0),
            set_stack_walker=types["set_stack_walker"](lambda walk: None),
            driver_events=types["driver_events"](lambda device: 0),
            driver_owns_events=types["driver_owns_events"](lambda: 0),
            set_attribution=types["set_attribution"](lambda attribute: None),
        )
        self.table = ctypes.pointer(self._api)

    def _text(self, ring, text, length):
        return self.texts.setdefault(text[:length].decode(), len(self.texts))

    def _stack(self, ring, lines):
        """Names a stack by the line of this file that calls torch."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != __file__:
            frame = frame.f_back
        return self.lines.setdefault(frame and frame.f_lineno, 2 * len(self.lines) + 2)

    def _name(self, number):
        return next(text for text, known in self.texts.items() if known == number)

    def _push(self, ring, record, payload, size):
        record = record.contents
        payload = ctypes.string_at(payload, size) if size else b""
        if record.kind == _abi.NODE:
            self._on_node(record.node, payload)
        elif record.kind == _abi.NODE_RUN:
            self.runs.append(Run(record.node_run.id, bool(record.detail)))
        elif record.kind == _abi.OP:
            self.ops[record.define.id] = self._name(record.define.text)
        elif record.kind == _abi.NODE_DESTROYED:
            self.destroyed.append(record.node_destroyed.id)
        elif record.kind == _abi.LABEL:
            self.labels.append((record.detail, self._name(record.label.name)))
        elif record.kind == _abi.COST:
            self.costs.append(Cost(record.detail, record.cost.duration_ns, record.cost.longest_ns, record.cost.count))
        return 1

    def _on_node(self, node, payload):
        edges = (_abi.Edge * node.edges).from_buffer_copy(payload)
        saved = (_abi.Saved * node.saved).from_buffer_copy(payload, ctypes.sizeof(edges))
        self.saved_addresses.update(one.address for one in saved)
        self.nodes[node.id] = Node(
            node.id,
            self._name(node.type),
            [(edge.node, edge.slot, edge.input) for edge in edges],
            [self._saved(one) for one in saved],
            node.number,
            bool(node.flags & _abi.NODE_ACCUMULATES),
            node.stack,
            self.ops.get(node.op),
        )

    def _saved(self, saved):
        is_view, is_packed = bool(saved.flags & _abi.SAVED_VIEW), bool(saved.flags & _abi.SAVED_PACKED)
        return Saved(self._name(saved.name), saved.bytes, saved.offset, saved.version, is_view, is_packed)

    def alive(self):
        """Returns the sorted types of the nodes that were recorded and not destroyed, without leaves."""
        destroyed = set(self.destroyed)
        return sorted(n.type for n in self.nodes.values() if n.number not in destroyed and not n.is_leaf)

    def saved_bytes(self):
        return sum(saved.bytes for node in self.nodes.values() for saved in node.saved)


_core = None


def fresh_core():
    """Returns the only core of this process, which gets every later record. Drops nodes destroyed earlier."""
    global _core
    from tidemark import _plugin

    if _core is None:
        _core = Core()
        _core.plugin = _plugin.Plugin(torch)
    _core.plugin.detach()
    gc.collect()
    _core.nodes, _core.runs, _core.destroyed, _core.labels, _core.costs = {}, [], [], [], []
    _core.plugin.attach(torch, _core.table, _abi.PLUGIN_OPS | _abi.PLUGIN_GRAPH)
    return _core


@unittest.skipIf(torch is None, "torch cannot be imported: the plugin's tests are skipped")
class Capture(unittest.TestCase):
    def setUp(self):
        self.core = fresh_core()

    def nodes_of_step(self, model, data, kept=None):
        """Runs a training step as the package's hooks report it. Returns its nodes by creation, without their numbers,
        and how many of them were found in the forward pass."""
        self.core.nodes.clear()
        loss = model(data).square().mean()
        if kept is not None:
            kept.append(loss)
        in_forward = len(self.core.nodes)
        self.core.plugin.backward_begins()
        self.core.plugin.identify(loss._cdata)
        loss.backward()
        self.core.plugin.backward_ends()
        self.core.plugin.step_ended()
        nodes = sorted((n for n in self.core.nodes.values() if not n.is_leaf), key=lambda node: node.sequence)
        return [(n.type, n.op, n.stack, [edge[1:] for edge in n.edges], n.saved) for n in nodes], in_forward

    def test_nodes_of_steps_that_repeat_are_found_without_their_ops(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
        data = torch.ones(3, 4)
        first, in_forward = self.nodes_of_step(model, data)
        self.assertGreater(in_forward, 0)
        for _ in range(3):
            self.nodes_of_step(model, data)
        repeated, in_forward = self.nodes_of_step(model, data)
        self.assertEqual(in_forward, 0, "its ops are not observed")
        self.assertEqual(repeated, first)
        self.assertIn("aten::gelu", [node[1] for node in repeated])
        self.assertNotIn(0, [node[2] for node in repeated])
        self.nodes_of_step(torch.nn.Sequential(model, torch.nn.Tanh()), data)
        changed, in_forward = self.nodes_of_step(torch.nn.Sequential(model, torch.nn.Tanh()), data)
        self.assertGreater(in_forward, 0, "the pass after one with a new node is observed")
        self.assertIn("aten::tanh", [node[1] for node in changed])

    def node(self, type):
        found = [node for node in self.core.nodes.values() if node.type == type]
        self.assertEqual(len(found), 1, f"{type} among {[n.type for n in self.core.nodes.values()]}")
        return found[0]

    def test_a_node_is_reported_with_its_edges_and_saved_tensors(self):
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

    def test_threads_report_what_the_callbacks_cost(self):
        began = time.perf_counter_ns()
        x = torch.ones(8, requires_grad=True)
        while time.perf_counter_ns() - began < 700_000_000:
            for _ in range(50):
                (x * 2).sum().backward()
        self.core.plugin.detach()  # sends the rest of this thread
        elapsed = time.perf_counter_ns() - began
        self.assertGreaterEqual(len(self.core.costs), 3, "the main thread reports five times a second, then at the end")
        self.assertEqual({cost.kind for cost in self.core.costs}, {_abi.COST_CALLBACKS})
        calls, duration = (sum(cost[i] for cost in self.core.costs) for i in (3, 1))
        self.assertGreater(calls, 1000)
        self.assertGreater(duration, calls * 20, "no callback takes less than 20 ns")
        self.assertLess(duration, 2 * elapsed)
        for cost in self.core.costs:
            self.assertLessEqual(cost.longest, elapsed)
            self.assertGreater(cost.longest, 0)

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

    def test_nodes_are_executed_released_and_destroyed(self):
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

    def test_the_graph_of_a_dropped_result_is_recorded_and_destroyed(self):
        x = torch.ones(3, requires_grad=True)
        (x * 2).sin()
        self.assertEqual(self.core.alive(), [])
        self.assertEqual(len(self.core.nodes), 3)

    def test_python_functions_are_named_and_their_saved_tensors_recorded(self):
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

    def test_a_root_that_is_a_python_function_is_reported_on_request(self):
        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return grad

        y = Same.apply(torch.ones(2, requires_grad=True))
        number, address, sequence, device = self.core.plugin.identify(y._cdata)[:4]
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

    def test_recording_can_begin_in_inference_mode(self):
        with torch.inference_mode():
            fresh_core()

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
            torch.nn.Flatten(), torch.nn.Linear(8 * 7 * 7, 32), torch.nn.LayerNorm(32), torch.nn.GELU(),
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

    def test_saved_tensors_that_a_python_class_wraps_have_the_memory_of_the_tensor_inside(self):
        import torch.distributed as distributed
        from torch.distributed.tensor import Replicate, distribute_tensor

        self.addCleanup(distributed.destroy_process_group)
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        mesh = distributed.init_device_mesh("cpu", (1,))
        weight = distribute_tensor(torch.ones(6, 4), mesh, [Replicate()]).requires_grad_()
        data = distribute_tensor(torch.ones(5, 6), mesh, [Replicate()])
        activation = (data @ weight).exp()
        self.assertIn(data.to_local().data_ptr(), self.core.saved_addresses)  # an input of mm
        self.assertIn(activation.to_local().data_ptr(), self.core.saved_addresses)  # the result of exp
        self.assertEqual(_labels._placements(weight), " as Replicate()")
        self.assertEqual(_labels._placements(weight.to_local()), "")

    def test_lifetimes_are_not_extended(self):
        x = torch.ones(1000, requires_grad=True)
        y = x.exp()
        gone = weakref.ref(y)
        storage = weakref.ref(y.untyped_storage())
        del y
        self.assertIsNone(gone())
        self.assertIsNone(storage())
        self.assertEqual(self.core.alive(), [])

    def test_views_storages_and_gradients_are_identified(self):
        weight = torch.ones(100, 10, requires_grad=True)
        weight.grad = torch.ones(100, 10)
        part = self.core.plugin.identify(weight.detach()[3:5]._cdata)
        self.assertEqual((part.address, part.bytes, part.storage_bytes), (weight.data_ptr(), 80, 4000))
        gradient = self.core.plugin.identify(self.core.plugin.gradient_of(weight._cdata))
        self.assertEqual(gradient.address, weight.grad.data_ptr())
        self.assertEqual(self.core.plugin.gradient_of(weight.grad._cdata), 0)

    def test_the_values_of_a_sparse_gradient_are_identified(self):
        items = torch.nn.Embedding(100, 8, sparse=True)
        items(torch.tensor([1, 2, 3])).sum().backward()
        values = self.core.plugin.identify(self.core.plugin.gradient_of(items.weight._cdata))
        self.assertEqual(values.address, items.weight.grad._values().data_ptr())
        self.assertEqual(values.storage_bytes, 3 * 8 * 4)

    def test_labels_follow_tensors(self):
        layer = torch.nn.Linear(2, 2)
        self.core.plugin.label(layer.weight._cdata, 1, "Linear.weight")
        self.core.plugin.update_labels()
        self.assertEqual(self.core.labels, [(1, "Linear.weight")])
        self.core.plugin.update_labels()
        self.assertEqual(len(self.core.labels), 1)
        gone = weakref.ref(layer.weight)
        del layer
        gc.collect()
        self.assertIsNone(gone())
        self.core.plugin.update_labels()

    def test_labels_are_replaced(self):
        tensors = [torch.ones(2), torch.ones(2), torch.ones(2)]
        for i, tensor in enumerate(tensors):
            self.core.plugin.label(tensor._cdata, 1, f"Part.{i}")
        self.core.plugin.update_labels()
        self.core.labels.clear()
        del tensors[0], tensor
        self.core.plugin.update_labels()
        self.core.plugin.label(tensors[1]._cdata, 1, "Model.part.2")
        for _ in range(2):
            self.core.plugin.update_labels()
        self.assertEqual(self.core.labels, [(1, "Model.part.2")])

    def test_each_gradient_gets_its_label_once(self):
        parameter = torch.nn.Parameter(on_a_gpu(0x10000))
        self.core.plugin.label(parameter._cdata, _abi.CATEGORY_PARAMETER, "p")
        parameter.grad = on_a_gpu(0x20000)
        for update in (self.core.plugin.update_labels_of_parameters, self.core.plugin.update_labels):
            update()
        labels = [(_abi.CATEGORY_PARAMETER, "p"), (_abi.CATEGORY_GRADIENT, "p")]
        self.assertEqual(self.core.labels, labels)
        for _ in range(10):
            parameter.grad = None
            parameter.grad = on_a_gpu(0x20000)  # a new one in the memory of the previous one
            self.core.plugin.update_labels_of_parameters()
            self.core.plugin.update_labels()
            labels.append((_abi.CATEGORY_GRADIENT, "p"))
            self.assertEqual(self.core.labels, labels)
        parameter.grad.data = on_a_gpu(0x30000)
        self.core.plugin.update_labels()
        self.assertEqual(self.core.labels[len(labels) :], [(_abi.CATEGORY_GRADIENT, "p")])

    def test_optimizer_state_is_labeled_at_the_end_of_the_step(self):
        state = on_a_gpu(0x10000)
        self.core.plugin.label(state._cdata, _abi.CATEGORY_OPTIMIZER_STATE, "exp_avg of p")
        self.core.plugin.update_labels_of_parameters()
        self.assertEqual(self.core.labels, [])
        self.core.plugin.update_labels()
        self.assertEqual(self.core.labels, [(_abi.CATEGORY_OPTIMIZER_STATE, "exp_avg of p")])


def on_a_gpu(address):
    """Returns a tensor of one number that claims to lie on a GPU at this address. No one may read it."""
    gpu = torch.device("cuda", 0)
    storage = torch._C._construct_storage_from_data_pointer(address, gpu, 4)
    metadata = {"size": (1,), "stride": (1,), "dtype": torch.float32, "storage_offset": 0, "device": gpu}
    return torch._C._construct_CUDA_Tensor_From_Storage_And_Metadata(metadata, storage)


def programs_with_known_lifetimes():
    """Returns small programs that return the objects they retain, and the types of the nodes that stay alive."""
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
class Destroyed(unittest.TestCase):
    def test_alive_nodes_are_the_expected_ones(self):
        for program, expected in programs_with_known_lifetimes():
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
elif torch is None and sys.executable != TORCH_PYTHON:

    def load_tests(loader, tests, pattern):
        """Runs the tests in the Python that has torch."""
        done = subprocess.run([TORCH_PYTHON, "-W", "ignore", "-m", "unittest", "-v", "test_graph"])
        suite = unittest.TestSuite()
        suite.addTest(unittest.FunctionTestCase(lambda: unittest.TestCase().assertEqual(done.returncode, 0)))
        return suite
