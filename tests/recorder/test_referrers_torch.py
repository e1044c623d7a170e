# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The recording part "graph" with CPU tensors: labels, and retention paths of tensors.

Needs torch (any build): TIDEMARK_TEST_PYTHON names a Python that has it; without it, this Python is tried.
"""

import os
import subprocess
import sys
import unittest

HOME = os.environ["TIDEMARK_HOME"]
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

# The fake plugin reports a node for every tensor that went through made().
TORCH_PROGRAM = """
import ctypes, time, torch
from tidemark import _abi, _graph, _hooks, _modules, _pauses, _plugin

class Core:
    messages = []
    def push(self, message):
        self.messages.append(message)
    def recording(self):
        return False
    def full_scans_wanted(self):
        return 0
    def serve_scans(self, serves):
        pass
    def scans_wanted(self):
        return 0
    def driver_owns_events(self):
        return False
    def growing_blocks(self):
        return []

class Plugin:
    made, labels, updates, alive, details = {}, [], 0, 0, 1
    def identify(self, cdata):
        return _plugin.Place(self.made.get(cdata, 0), 0, 0, 255)
    def sequences(self):
        return []
    def gradient_of(self, cdata):
        return 0
    def label(self, cdata, category, name):
        self.labels.append((category, name))
    def update_labels(self):
        self.updates += 1
    def is_recorded(self):
        return ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value  # of every tensor
    def records_details(self):
        return self.details
    def live_nodes(self):
        return self.alive, self.alive

    update_labels_of_parameters = update_labels_of_tensors = update_labels

def made(tensor):
    plugin.made[tensor._cdata] = len(plugin.made) + 1
    return tensor

def print_messages():
    time.sleep(0.01)
    for record, payload in core.messages:
        if record.kind == _abi.HEAP_SCAN:
            print("scan", payload.decode())
        if record.kind == _abi.REFERRER:
            texts = payload.decode().split("\\0")
            print(*(f"{kind}:{name}" for kind, name in zip(texts[:-1:5], texts[1::5])), sep=", ")
        if record.kind == _abi.DATA_GAP:
            print("loss", payload.decode())
    core.messages.clear()

core, plugin = Core(), Plugin()
modules = _modules.Modules()

class Listener:  # only what names modules
    def running(self):
        return True
    def module_changed(self, module):
        modules.changed(module)
    def module_got_part(self, *part):
        modules.got_part(*part)
    def __getattr__(self, name):
        return lambda *arguments: None

_hooks.report_to(Listener())
_hooks.install(torch)
graph = _graph.Graph(torch, plugin, core, modules, _pauses.Pauses(core), lambda *gap: print("lost:", gap))
"""


@unittest.skipUnless(HAS_TORCH, "needs torch: ./bootstrap test")
class WithTorch(unittest.TestCase):
    def lines_of(self, program):
        environment = {**os.environ, "PYTHONPATH": os.path.join(HOME, "python")}
        done = subprocess.run(
            [TORCH_PYTHON, "-W", "ignore", "-c", TORCH_PROGRAM + program],
            capture_output=True, text=True, timeout=120, env=environment,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_referrers_of_nodes(self):
        lines = self.lines_of(
            "class Scale(torch.autograd.Function):\n"
            "    @staticmethod\n"
            "    def forward(ctx, x):\n"
            "        ctx.kept = made(torch.ones(2, requires_grad=True) * 2)\n"
            "        return x * 1\n"
            "    @staticmethod\n"
            "    def backward(ctx, gradient):\n"
            "        return gradient\n"
            "weight = torch.ones(2, requires_grad=True)\n"
            "losses = [made(weight * 2)]\n"
            "def main():\n"
            "    model = torch.nn.Linear(2, 2)\n"
            "    def hook(module, inputs, output, seen=[]):\n"
            "        seen.append(made(output * 1))\n"
            "    model.register_forward_hook(hook)\n"
            "    del hook\n"
            "    graph_of_out = [Scale.apply(model(weight)).grad_fn]\n"
            "    saved = made(weight * 3)\n"
            "    square = saved * saved\n"
            "    del saved\n"
            "    graph.scan(); print_messages()\n"
            "main()\n"
        )
        self.assertEqual(lines[0], "scan asked")
        self.assertEqual(
            sorted(lines[1:]),
            [
                "global:losses, index:0",
                "local:graph_of_out, index:0, ctx:kept of Scale",
                "local:model, hook:forward hook of Linear, attribute:default of seen, index:0",
                "native:",
            ],
        )

    def test_buffers_that_are_replaced_are_labeled_again(self):
        lines = self.lines_of(
            "graph._poller.stop()\n"
            "norm = torch.nn.BatchNorm1d(2)\n"
            "graph.step_ended()\n"
            "plugin.labels.clear()\n"
            "norm.double()\n"
            "graph.step_ended()\n"
            "print(*sorted(name for _, name in plugin.labels))\n"
        )
        self.assertEqual(lines, ["BatchNorm1d.running_mean BatchNorm1d.running_var"])

    def test_polls_label_the_modules_of_a_program_without_steps(self):
        lines = self.lines_of(
            "graph._poller.stop()\n"
            "graph._polls_since_step = 0\n"
            "layer = torch.nn.Linear(2, 2)\n"
            "graph._poll()\n"
            "print(len(plugin.labels))\n"
            "graph._poll()\n"
            "print(*sorted(name for _, name in plugin.labels), plugin.updates)\n"
        )
        self.assertEqual(lines, ["0", "Linear.bias Linear.weight 1"])

    def test_an_exceptions_frames_at_the_end(self):
        lines = self.lines_of(
            "weight = torch.ones(2, requires_grad=True)\n"
            "def fails():\n"
            "    inside = made(weight * 2)\n"
            "    raise ValueError\n"
            "try:\n"
            "    fails()\n"
            "except ValueError as error:\n"
            "    graph.ends(error.__traceback__)\n"
            "print_messages(); graph.ends(None); print_messages()\n"
        )
        self.assertEqual(lines, ["scan end", "exception:, local:inside"])

    def test_an_exception_of_another_thread_counts_as_variables_at_an_error(self):
        lines = self.lines_of(
            "import threading\n"
            "weight = torch.ones(2, requires_grad=True)\n"
            "handled, may_end = threading.Event(), threading.Event()\n"
            "def fails():\n"
            "    inside = made(weight * 2)\n"
            "    raise ValueError\n"
            "def work():\n"
            "    try:\n"
            "        fails()\n"
            "    except ValueError:\n"
            "        handled.set(); may_end.wait()\n"
            "worker = threading.Thread(target=work); worker.start(); handled.wait()\n"
            "graph.out_of_memory(); print_messages()\n"
            "graph.scan(); print_messages()\n"
            "may_end.set(); worker.join()\n"
        )
        self.assertEqual(lines, ["scan out of memory", "local:inside", "scan asked", "exception:, local:inside"])

    def test_one_tensor_of_each_optimizer_has_a_path(self):
        lines = self.lines_of(
            "class Trainer:\n"
            "    pass\n"
            "def main():\n"
            "    trainer, weights = Trainer(), [torch.ones(2, requires_grad=True) for _ in range(3)]\n"
            "    trainer.optimizer = torch.optim.AdamW(weights)\n"
            "    for weight in weights:\n"
            "        weight.grad = torch.ones(2)\n"
            "    trainer.optimizer.step(); graph.optimizer_stepped(trainer.optimizer)\n"
            "    for state in trainer.optimizer.state.values():\n"
            "        made(state['exp_avg']); made(state['exp_avg_sq'])\n"
            "    del state, weight, weights\n"
            "    graph.scan(); print_messages()\n"
            "main()\n"
        )
        self.assertEqual(
            lines,
            [
                "scan asked",
                "local:trainer, attribute:optimizer of Trainer, attribute:state of AdamW, item:Tensor, "
                "item:'exp_avg_sq'",
            ],
        )

    def test_labels(self):
        lines = self.lines_of(
            "graph._poller.stop(); plugin.updates = 0\n"
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.h = torch.nn.ModuleList([torch.nn.Linear(2, 2, bias=False)])\n"
            "        self.register_buffer('mask', torch.ones(2))\n"
            "net, free = Net(), torch.ones(2, requires_grad=True)\n"
            "optimizer = torch.optim.AdamW([*net.parameters(), free])\n"
            "graph.backward_begins(); graph.backward_begins(); graph.backward_ends()\n"
            "print(plugin.updates); graph.backward_ends(); print(plugin.updates)\n"
            "plugin.details = 0\n"
            "graph.backward_begins(); graph.backward_ends(); graph.step_ended(); print(plugin.updates)\n"
            "plugin.details = 1\n"
            "free.grad = torch.ones(2); net.h[0].weight.grad = torch.ones(2, 2)\n"
            "optimizer.step()\n"
            "for _ in range(3):\n"
            "    graph.optimizer_stepped(optimizer); graph.step_ended()\n"
            "print(*plugin.labels, sep='\\n')\n"
        )
        self.assertEqual(lines[:3], ["0", "1", "1"], "after the outermost pass, except in light steps")
        names = [(1, "Net.h.0.weight"), (2, "Net.mask"), (1, "param_groups[0][1]")]
        names += [
            (4, f"{name} of {tensor}")
            for tensor in ("Net.h.0.weight", "param_groups[0][1]")
            for name in ("step", "exp_avg", "exp_avg_sq")
        ]
        self.assertEqual(sorted(lines[3:]), sorted(map(str, names)))

    def test_the_local_part_of_a_distributed_tensor(self):
        lines = self.lines_of(
            "class Distributed(torch.Tensor):  # as DTensor\n"
            "    __slots__ = ['_local_tensor']\n"
            "local, labeled = torch.ones(2), []\n"
            "distributed = torch.empty(0).as_subclass(Distributed); distributed._local_tensor = local\n"
            "plugin.label = lambda cdata, category, name: labeled.append(cdata)\n"
            "graph._poller.stop(); module = torch.nn.Module(); module.register_buffer('table', distributed)\n"
            "graph._labels.find_new(); print(labeled == [local._cdata])\n"
        )
        self.assertEqual(lines, ["True"])

    def test_parts_that_were_labeled_before_their_model_existed(self):
        lines = self.lines_of(
            "graph._poller.stop(); find = graph._labels.find_new\n"
            "class Block(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.fc = torch.nn.Linear(2, 2, bias=False); find()\n"
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.block = Block(); find(); find()\n"
            "        self.head = torch.nn.Linear(2, 2, bias=False)\n"
            "        self.head.weight = self.block.fc.weight\n"
            "net = Net(); find(); find()\n"
            "print(*(name for _, name in plugin.labels))\n"
            "modules.called(net); wrapper = torch.nn.Sequential(net); find(); print(len(plugin.labels))\n"
        )
        self.assertEqual(lines[0], "Block.fc.weight Net.block.fc.weight", "the first of two owners gives the name")
        self.assertEqual(lines[1], "2", "a model in use keeps its names")

    def test_the_history_of_an_optimizer(self):
        lines = self.lines_of(
            "graph._poller.stop(); weight = torch.ones(4, requires_grad=True)\n"
            "optimizer = torch.optim.LBFGS([weight], max_iter=3, history_size=4)\n"
            "def closure():\n"
            "    optimizer.zero_grad(); loss = (weight ** 4).sum(); loss.backward(); return loss\n"
            "for _ in range(6):\n"
            "    optimizer.step(closure); graph.optimizer_stepped(optimizer)\n"
            "    kept = optimizer.state[weight]['old_dirs']\n"
            "    print(len(kept), all(direction in graph._labels for direction in kept))\n"
        )
        self.assertEqual(lines[-3:], ["4 True"] * 3, "also after the first elements were replaced")

    def lines_of_growth(self, seconds):
        return self.lines_of(
            "weight = torch.ones(2, requires_grad=True)\n"
            "def main():\n"
            "    losses = [made(weight * 2)]\n"
            "    plugin.alive = 100\n"
            f"    time.sleep({seconds})\n"
            "main(); print_messages()\n"
            "graph.marked('a'); graph.marked('b'); plugin.alive = 101; graph.marked('c'); graph.close()\n"
        )

    def test_a_leak_inside_main_is_found_while_it_grows(self):
        self.assertEqual(self.lines_of_growth(2), ["scan memory grows", "local:losses, index:0"])

    def test_the_first_steps_are_not_scanned(self):
        self.assertEqual(self.lines_of_growth(0.5), [])

    def test_no_code_of_tensor_classes_runs(self):
        lines = self.lines_of(
            "class Loud(torch.Tensor):\n"
            "    calls = []\n"
            "    @classmethod\n"
            "    def __torch_function__(cls, function, types, arguments=(), named=None):\n"
            "        cls.calls.append(function)\n"
            "        return super().__torch_function__(function, types, arguments, named or {})\n"
            "loud = made((torch.ones(2, requires_grad=True) * 2).as_subclass(Loud))\n"
            "owner = [torch.nn.Module()]; owner[0].seen = {'x': loud}; del loud\n"
            "Loud.calls.clear(); graph.scan(); print(Loud.calls); print_messages()\n"
        )
        self.assertEqual(lines[:2], ["[]", "scan asked"])
        self.assertEqual(lines[2:], ["global:owner, index:0, attribute:seen of Module, item:'x'"])


if __name__ == "__main__":
    unittest.main()
