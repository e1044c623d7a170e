# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records small programs on the CPU. The trace must contain their graphs, and their results must not change.

Needs torch with CUDA's libraries (no GPU) and a C++ compiler: TIDEMARK_TEST_PYTHON names a Python that has it.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

SAME_RESULTS = {
    "checkpointing": """
from torch.utils.checkpoint import checkpoint
layer = torch.nn.Linear(8, 8)
x = torch.randn(4, 8, requires_grad=True)
y = checkpoint(lambda t: layer(t).tanh(), x, use_reentrant=False)
y = checkpoint(lambda t: torch.nn.functional.dropout(layer(t).tanh()), y, use_reentrant=True)
y.pow(3).sum().backward()
show(x.grad, layer.weight.grad)
""",
    "hooks that pack": """
layer = torch.nn.Linear(8, 8)
x = torch.randn(4, 8, requires_grad=True)
calls = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: calls.append("pack") or t.numpy(force=True).copy()
        if False else t.clone(), lambda t: calls.append("unpack") or t):
    layer(x).tanh().sum().backward()
with torch.autograd.graph.save_on_cpu():
    layer(x).exp().sum().backward()
show(x.grad, layer.weight.grad); print(calls)
""",
    "custom functions and hooks": """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x); ctx.k = k; ctx.kept = x * 2
        return x * k
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k + ctx.saved_tensors[0] + ctx.kept, None
x = torch.randn(4, requires_grad=True)
seen = []
x.register_hook(lambda g: seen.append("tensor") or g * 2)
y = Scale.apply(x, 3.0)
y.register_hook(lambda g: seen.append("output"))
y.grad_fn.register_prehook(lambda g: seen.append("before"))
y.grad_fn.register_hook(lambda i, o: seen.append("after"))
x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
y.retain_grad()
y.pow(2).sum().backward()
show(x.grad, y.grad); print(seen)
""",
    "double backward": """
x = torch.randn(5, requires_grad=True)
z = (x.exp() * x).sum()
(g,) = torch.autograd.grad(z, x, create_graph=True)
g.pow(2).sum().backward(retain_graph=True)
g.pow(2).sum().backward()
show(x.grad)
""",
    "what raises, raises": """
x = torch.randn(5, requires_grad=True)
y = x.exp()
y += 1
for loss in (y.sum(), (x * x).sum()):
    for _ in range(2):
        try:
            loss.backward()
        except RuntimeError as error:
            print(str(error)[:60])
show(x.grad)
""",
    "threads": """
import threading
layer = torch.nn.Linear(8, 8)
inputs = [torch.randn(4, 8) for _ in range(4)]
results = [None] * 4
def work(i):
    for _ in range(20):
        g = torch.autograd.grad(layer(inputs[i]).tanh().sum(), layer.weight)[0]
    results[i] = g
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
show(*results)
""",
    "training": """
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(5):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(torch.randn(6, 8)), torch.randint(0, 2, (6,)))
    loss.backward()
    optimizer.step()
show(*model.parameters())
""",
}
FRAME = """
import sys, hashlib, torch
torch.manual_seed(3)
def show(*tensors):
    contents = [bytes(t.detach().contiguous().view(torch.uint8).flatten().tolist()) for t in tensors]
    print([hashlib.sha256(content).hexdigest()[:16] for content in contents])
"""


@unittest.skipUnless(HAS_TORCH, "torch cannot be imported: recordings of graphs are skipped")
class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "run.tide")

    def run_program(self, text, recorded=True):
        start = "import tidemark; tidemark.record(sys.argv[1], force=True)\n" if recorded else ""
        done = subprocess.run(
            [TORCH_PYTHON, "-W", "ignore", "-X", "faulthandler", "-c"]
            + ["import sys\n" + start + FRAME + text, self.path],
            capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": PACKAGE},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, sql):
        trace = sqlite3.connect(self.path)
        self.addCleanup(trace.close)
        return trace.execute(sql).fetchall()

    def test_results_are_the_same(self):
        for name, text in SAME_RESULTS.items():
            with self.subTest(name):
                self.assertEqual(self.run_program(text, recorded=True), self.run_program(text, recorded=False))
                self.assertGreater(self.rows("SELECT count(*) FROM autograd_node")[0][0], 0)

    def test_nodes_names_lines_and_lifetimes(self):
        self.run_program(
            "class Net(torch.nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__(); self.fc = torch.nn.Linear(4, 2)\n"
            "    def forward(self, x):\n"
            "        return self.fc(x).relu()\n"
            "net = Net()\n"
            "kept = []\n"
            "for step in range(3):\n"
            "    y = net(torch.randn(3, 4)).sum()\n"
            "    y.backward(retain_graph=step > 0)\n"
            "    if step > 0: kept.append(y)\n"
            "    tidemark.step()\n"
        )
        nodes = self.rows(
            "SELECT type.text, executed_time IS NULL, released_time IS NULL, destroyed_time IS NULL, module.text"
            " FROM autograd_node JOIN string type ON type.id = type"
            " LEFT JOIN origin ON origin.id = autograd_node.origin"
            " LEFT JOIN string module ON module.id = origin.module ORDER BY autograd_node.id"
        )
        self.assertEqual([n[1:4] for n in nodes if n[0] == "SumBackward0"], [(0, 0, 0), (0, 1, 1), (0, 1, 1)])
        self.assertEqual({n[4] for n in nodes if n[0] == "AddmmBackward0"}, {"Net.fc"})
        self.assertEqual({n[4] for n in nodes if n[0] == "ReluBackward0"}, {"Net"})
        variables = self.rows("SELECT text FROM autograd_node JOIN string ON string.id = variable ORDER BY text")
        self.assertEqual([v for (v,) in variables], ["Net.fc.bias", "Net.fc.weight"])
        referrers = self.rows(
            "SELECT group_concat(kind || ' ' || coalesce(text, ''), ' > ') FROM (SELECT * FROM path_link ORDER BY"
            " referrer, position) JOIN referrer ON referrer.id = referrer LEFT JOIN string ON string.id = name"
            " WHERE node IN (SELECT id FROM autograd_node WHERE destroyed_time IS NULL) GROUP BY referrer"
        )
        self.assertIn(("global kept > index 0",), referrers)

    def test_the_recording_measures_its_own_cost(self):
        self.run_program(
            "import time\n"
            "net = torch.nn.Linear(8, 8)\n"
            "begin, steps = time.monotonic(), 0\n"
            "while steps < 150 or time.monotonic() < begin + 4:\n"
            "    net(torch.ones(4, 8)).sum().backward()\n"
            "    tidemark.step()\n"
            "    steps += 1\n"
        )
        costs = {
            kind: (count, duration, longest, spans)
            for kind, count, duration, longest, spans in self.rows(
                "SELECT kind, sum(count), sum(duration), max(longest), count(*) FROM recording_cost GROUP BY kind"
            )
        }
        self.assertLessEqual({"callbacks", "pause", "heap scan"}, set(costs))
        self.assertGreater(costs["callbacks"][0], 1000)
        self.assertGreater(costs["callbacks"][3], 1, "one row about every second")
        self.assertGreater(costs["pause"][0], 100, "each step is a pause")
        for _, duration, longest, _ in costs.values():
            self.assertGreater(duration, 0)
            self.assertGreaterEqual(duration, longest)
        total = sum(duration for kind, (_, duration, _, _) in costs.items() if kind != "heap scan")
        (ran,) = self.rows("SELECT max(end_time) - min(start_time) FROM step")
        self.assertLess(total, ran[0], "less than the time that the program ran")
        (scans,) = self.rows("SELECT sum(duration) FROM heap_scan")
        self.assertEqual(costs["heap scan"][1], scans[0], "pauses do not contain the scans")

    def test_memory_that_grows_is_scanned_while_the_program_runs(self):
        # Reports tensors of the CPU as the plugin reports those of a GPU.
        self.run_program(
            "import time\n"
            "from tidemark import _abi, _records\n"
            "recording = tidemark._api.current(); core = recording.core\n"
            "def state(part):\n"
            "    record = _records._record(_abi.STATE, part); core.push((record, b''))\n"
            "state(_abi.STATE_BEGIN); state(_abi.STATE_END)\n"
            "def event(action, address, size):\n"
            "    global events\n"
            "    record = _records._record(_abi.EVENT, action)\n"
            "    record.event.sequence, events = events, events + 1\n"
            "    record.event.address, record.event.size = address, size\n"
            "    core.push((record, b''))\n"
            "events, alloc, free_requested, free_completed, segment_alloc = 0, 0, 1, 2, 3\n"
            "def main():\n"
            "    scores, work, bytes_of_work = [], 1 << 40, 1 << 30\n"
            "    event(segment_alloc, work, bytes_of_work)\n"
            "    for _ in range(60):\n"
            "        event(alloc, work, bytes_of_work)\n"
            "        scores.append(torch.ones(1 << 19))\n"
            "        event(segment_alloc, scores[-1].data_ptr(), 2 << 20)\n"
            "        event(alloc, scores[-1].data_ptr(), 2 << 20)\n"
            "        event(free_requested, work, bytes_of_work)\n"
            "        event(free_completed, work, bytes_of_work)\n"
            "        time.sleep(0.05)\n"
            "main()\n"
        )
        scans = self.rows("SELECT id, tensors FROM heap_scan WHERE reason = 'allocation sites grow' ORDER BY id")
        self.assertGreaterEqual(len(scans), 2)
        paths = self.rows(
            "SELECT group_concat(kind || ' ' || text, ' > ') FROM (SELECT * FROM path_link ORDER BY referrer, position)"
            f" JOIN referrer ON referrer.id = referrer JOIN string ON string.id = name WHERE scan = {scans[-1][0]}"
            " GROUP BY referrer"
        )
        self.assertGreaterEqual(len(paths), 10)
        self.assertEqual(paths[-1][0][: len("local scores > index ")], "local scores > index ")

    def test_a_program_that_leaves_without_cleanup_is_scanned(self):
        self.run_program(
            "import gc, os\n"
            "class Meter:\n"
            "    def __init__(self, loss):\n"
            "        self.update, self.losses = self.add, [loss]\n"
            "    def add(self): pass\n"
            "def main():\n"
            "    weight = torch.ones(2, requires_grad=True)\n"
            "    kept = [weight * 2]\n"
            "    gc.disable(); Meter(weight * 3)\n"
            "    os._exit(0)\n"
            "main()\n"
        )
        while not os.path.exists(self.path) or not self.rows("SELECT 1 FROM sqlite_master WHERE name = 'seal'"):
            time.sleep(0.1)
        while not self.rows("SELECT 1 FROM seal"):
            time.sleep(0.1)
        paths = self.rows(
            "SELECT group_concat(kind || ' ' || text, ' > ') FROM (SELECT * FROM path_link ORDER BY referrer, position)"
            " JOIN referrer ON referrer.id = referrer JOIN string ON string.id = name GROUP BY referrer"
        )
        self.assertEqual(
            sorted(path for (path,) in paths),
            ["cycle Meter → method → Meter > attribute losses of Meter > index 0", "local kept > index 0"],
        )


if __name__ == "__main__":
    unittest.main()
