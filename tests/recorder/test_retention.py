# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The retention paths of memory that grows, through the containers in which programs retain it, with CPU tensors.

Needs torch with CUDA's libraries (no GPU) and a C++ compiler: TIDEMARK_TEST_PYTHON names a Python that has it.
"""

import os
import subprocess
import sys
import tempfile
import unittest

PACKAGE = os.path.join(os.environ["TIDEMARK_HOME"], "python")
TORCH_PYTHON = os.environ.get("TIDEMARK_TEST_PYTHON") or sys.executable
HAS_TORCH = subprocess.run([TORCH_PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

# The recorder knows the blocks that grow() made as growing ones.
START = """
import asyncio, atexit, collections, contextvars, dataclasses, functools, gc, logging, logging.handlers, queue, sys
import threading, time, types, weakref
import torch
import tidemark
from tidemark import _abi, _budget, _parts

recording = tidemark.record(sys.argv[1], force=True, parts=["graph"])
graph, core, blocks, messages = recording._graph, recording.core, [], []
graph._poller.stop()
core.growing_blocks = lambda: list(blocks)
push = core.push
core.push = lambda message: messages.append(message) or push(message)

def grow(*size):
    tensor = torch.ones(*size or (1000,))
    blocks.append(tensor.data_ptr())
    return tensor

def exclusively(scan):
    def call(*arguments):
        with graph._scans._exclusively(1.0):
            return scan(*arguments)
    return call

def show(scan=exclusively(graph._referrers.scan_growing), limits=_parts.Limits(0.04, 1.0)):
    del messages[:]
    print("found", scan("allocation sites grow", limits))
    for record, payload in messages:
        if record.kind == _abi.REFERRER:
            texts = payload.decode().split("\\0")
            print(*(f"{kind}:{name}" for kind, name in zip(texts[:-1:5], texts[1::5])), sep=", ")
    del blocks[:]

def show_all():
    show(exclusively(graph._referrers.scan_all_growing), None)

def run(cases):
    for name, text in cases.items():
        print("case", name)
        gc.collect()
        exec(compile(text, "case.py", "exec"), {**globals(), "blocks": blocks})
        gc.enable()

def library(source):
    module = types.ModuleType("some_library")
    sys.modules["some_library"] = module
    exec(compile(source, "/x/site-packages/some_library.py", "exec"), vars(module))
    return module
"""


# Programs and the paths that a scan must find. The first line: whether the search found the most.
CASES = {
    "queues": (
        """
def main():
    window, jobs, simple = collections.deque([grow()]), queue.Queue(), queue.SimpleQueue()
    jobs.put(('job', grow())); simple.put(grow())
    show()
main()
""",
        "found True",
        "local:window, index:0",
        "local:simple, element:",
        "local:jobs, attribute:queue of Queue, index:0, index:1",
    ),
    "generators and coroutines": (
        """
def batches():
    inside = grow()
    yield inside
async def worker():
    answer = grow()
    await asyncio.sleep(100)
async def serve():
    running = batches(); next(running)
    task = asyncio.create_task(worker())
    handle = asyncio.get_running_loop().call_later(100, print, grow()); del handle
    await asyncio.sleep(0)
    show(); task.cancel()
asyncio.run(serve())
""",
        "found True",
        "local:running, local:inside",
        "local:task, local:answer",
        "local:task, attribute:_loop of Task, attribute:_scheduled of _UnixSelectorEventLoop, index:0, "
        "attribute:_args of TimerHandle, index:0",
    ),
    "context variables": (
        """
request = contextvars.ContextVar('request')
def main():
    request.set([grow()])
    show_all(); request.set(None)
main()
""",
        "found None",
        "global:request, index:0",
    ),
    "context variables of unfinished tasks": (
        """
request = contextvars.ContextVar('request')
async def pulse():
    await asyncio.sleep(100)
async def handle():
    request.set([grow()])
    return asyncio.create_task(pulse())
async def serve():
    task = await asyncio.create_task(handle())
    await asyncio.sleep(0)
    show_all(); task.cancel()
    print(*(payload.decode().split("\\0")[2::5] for record, payload in messages if record.kind == _abi.REFERRER))
asyncio.run(serve())
""",
        "found None",
        "local:task, global:request, index:0",
        "['serve', 'pulse', '']",
    ),
    "caches of functions": (
        """
class Forecaster(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.enter = torch.nn.Linear(1, 1, bias=False)
        self.enter.weight = torch.nn.Parameter(grow(10, 10))
        self.enter.weight.grad = grow(10, 10)
    @functools.lru_cache
    def distance_bias(self, length):
        return torch.ones(length)
@functools.lru_cache
def table(size):
    return grow(size)
def fold():
    model = Forecaster(); model.distance_bias(3); table(200)
fold(); graph.step_ended(); show()
""",
        "found True",
        "global:table, attribute:cache of table",
        "global:Forecaster, attribute:distance_bias of Forecaster, attribute:cache of Forecaster.distance_bias, "
        "attribute:enter of Forecaster, attribute:weight of Linear",
        "global:Forecaster, attribute:distance_bias of Forecaster, attribute:cache of Forecaster.distance_bias, "
        "attribute:enter of Forecaster, attribute:weight of Linear, attribute:grad of Tensor",
    ),
    "callbacks at exit": (
        """
def draw(epoch, attention):
    pass
def plan(epoch):
    atexit.register(functools.partial(draw, epoch, grow()))
    atexit.register(draw, epoch, attention=grow())
def undone():
    callback = functools.partial(draw, 1, grow())
    atexit.register(callback); atexit.unregister(callback)
plan(1); undone(); show()
""",
        "found True",
        "callback:atexit",
        "callback:atexit, attribute:argument 1 of partial(draw)",
    ),
    "methods, closures, thread locals": (
        """
class Sink:
    def __init__(self):
        self.seen = [grow()]
    def add(self):
        pass
def closing():
    scores = grow()
    return lambda: scores
def main():
    listeners, late, store = {'add': Sink().add}, [closing()], threading.local()
    store.value = grow()
    show()
main()
""",
        "found True",
        "local:store, attribute:value of _local",
        "local:listeners, item:'add', attribute:self of Sink.add, attribute:seen of Sink, index:0",
        "local:late, index:0, closure:scores",
    ),
    "records of a logger": (
        """
handler = logging.handlers.MemoryHandler(100, flushLevel=1000)
logger = logging.Logger('app')
logger.addHandler(handler)
logger.error('%s', grow())
show()
""",
        "found True",
        "global:handler, attribute:buffer of MemoryHandler, index:0, attribute:args of LogRecord, index:0",
    ),
    "weak containers": (
        """
weak = weakref.WeakValueDictionary()
def main():
    kept = [[[grow()]]]
    weak['a'] = kept[0][0][0]
    show()
main()
""",
        "found True",
        "local:kept, index:0, index:0, index:0",
    ),
    "arrays": (
        """
try:
    import numpy
except ImportError:
    numpy = None
def main():
    arrays = [grow().numpy() if numpy else types.SimpleNamespace(base=grow())]
    show()
main()
""",
        "found True",
        "local:arrays, index:0, attribute:base of ndarray",
    ),
    "objects of libraries": (
        """
class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.preds = [grow()]
class Stats:
    def __init__(self):
        self.quality = torch.nn.ModuleDict({'auc': Metric()})
@dataclasses.dataclass
class Conversation:
    cache: object
class Service:
    def __init__(self):
        layer = types.SimpleNamespace(keys=grow())
        self.conversations = {7: Conversation(types.SimpleNamespace(layers=[layer]))}
def main():
    stats, service = Stats(), Service()
    show()
main()
""",
        "found True",
        "local:stats, attribute:quality of Stats, attribute:auc of ModuleDict, attribute:preds of Metric, index:0",
        "local:service, attribute:conversations of Service, item:7, attribute:cache of Conversation, "
        "attribute:layers of SimpleNamespace, index:0, attribute:keys of SimpleNamespace",
    ),
    "parameters that are added to a model": (
        """
class Personalizer:
    def __init__(self):
        self.model = torch.nn.Module(); self.model.lora_A = torch.nn.ParameterDict()
def main():
    personalizer = Personalizer()
    graph.step_ended()
    personalizer.model.lora_A['user-3'] = torch.nn.Parameter(grow(10, 10))
    graph.step_ended(); show()
main()
""",
        "found True",
        "local:personalizer, attribute:model of Personalizer, attribute:lora_A of Module, "
        "attribute:user-3 of ParameterDict",
    ),
    "exceptions in attributes": (
        """
class Trainer:
    def fails(self):
        batch = grow()
        raise FloatingPointError
    def step(self):
        try:
            self.fails()
        except FloatingPointError as error:
            self.gave_up_because = error
def main():
    trainer = Trainer(); trainer.step()
    show()
main()
""",
        "found True",
        "local:trainer, attribute:gave_up_because of Trainer, exception:, local:batch",
    ),
    "the root of a graph that retains it": (
        """
class Meter:
    def __init__(self):
        self.total = torch.zeros(3)
def main():
    meter, weight = Meter(), torch.ones(1000, requires_grad=True)
    for _ in range(2):
        meter.total = meter.total + (weight * grow()).sum()
    show_all()
main()
""",
        "found None",
        "local:meter, attribute:total of Meter",
    ),
    "hooks that use the tensor they are registered on": (
        """
def layer(x, weight):
    result = (x * weight).tanh()
    def implicit_gradient(gradient):
        return gradient * result.norm()
    return result, result.register_hook(implicit_gradient)
def main():
    result, handle = layer(grow(), torch.ones(1000, requires_grad=True))
    result.sum().backward(); del result
    show_all(); handle.remove()
main()
""",
        "found None",
        "native:Tensor, hook:gradient hook layer.<locals>.implicit_gradient",
    ),
    "a method as hook of a node whose graph its object caches": (
        """
class Head:
    def __init__(self, weight):
        self.support = grow()
        self.cached = (weight * self.support).tanh()
        self.cached.grad_fn.register_hook(self.on_backward)
    def on_backward(self, inputs, outputs):
        self.cached = None
head = weakref.ref(Head(torch.ones(1000, requires_grad=True)))
gc.collect(); show_all(); head().cached = None
""",
        "found None",
        "native:OrderedDict, hook:gradient hook Head.on_backward, attribute:self of Head.on_backward, "
        "attribute:cached of Head",
        "native:OrderedDict, hook:gradient hook Head.on_backward, attribute:self of Head.on_backward, "
        "attribute:support of Head",
    ),
    "functions on a cycle": (
        """
gc.disable()
def pyramid_loss(prediction):
    def from_level(level):
        return prediction.sum() if level == 2 else from_level(level + 1)
    return from_level(0)
pyramid_loss(grow())
show_all()
""",
        "found None",
        "cycle:pyramid_loss.<locals>.from_level → pyramid_loss.<locals>.from_level, closure:prediction",
    ),
    "garbage that is about to be frozen": (
        """
class Plan:
    def __init__(self):
        self.states, self.rank = grow(), self.best
    def best(self):
        pass
gc.disable(); Plan()
show(lambda reason, _: gc.freeze()); gc.unfreeze()
""",
        "found None",
        "cycle:Plan → method → Plan, attribute:states of Plan",
    ),
    "arguments of a library's functions": (
        """
lib = library('''
class Container:
    def __init__(self):
        self.tensors = []
    def add(self, new, call):
        self.tensors.append(new)
        return concatenate(self.tensors, call)
def concatenate(tensors, call):
    return call()
def evaluate(call, make):
    outputs = Container()
    return outputs.add(make(), call)
''')
lib.evaluate(show, grow)
""",
        "found True",
        "local:outputs, attribute:tensors of Container, index:0",
    ),
    "arguments of a library's functions, many calls deep": (
        """
lib = library('''
class Container:
    def __init__(self):
        self.tensors = []
def concatenate(tensors, call):
    return next(call() for tensor in tensors)
def pad(tensors, call):
    return concatenate(tensors, call)
def evaluate(call, make):
    outputs = Container()
    outputs.tensors.append(make())
    return pad(outputs.tensors, call)
def train(depth, call, make):
    return evaluate(call, make) if depth == 0 else train(depth - 1, call, make)
''')
lib.train(8, show, grow)
""",
        "found True",
        "local:outputs, attribute:tensors of Container, index:0",
    ),
    "running sums whose graph retains the memory": (
        """
class Dynamics:
    def __init__(self):
        self.velocity = torch.zeros(())
def main():
    dynamics, sums = Dynamics(), {'loss': 0.0}
    weight = torch.ones(1000, requires_grad=True)
    for step in range(3):
        dynamics.velocity = dynamics.velocity + (weight * grow()).sum()
        sums['loss'] = sums['loss'] + (weight * grow()).sum()
    show()
main()
""",
        "found False",
        "local:dynamics, attribute:velocity of Dynamics",
        "local:sums, item:'loss'",
    ),
    "arguments in the traceback of an exception that is being handled": (
        """
lib = library('''
class Container:
    def __init__(self):
        self.tensors = []
def concatenate(tensors):
    raise RuntimeError
def evaluate(make):
    outputs = Container()
    outputs.tensors.append(make())
    concatenate(outputs.tensors)
''')
try:
    lib.evaluate(grow)
except RuntimeError:
    show()
""",
        "found True",
        "exception:, local:outputs, attribute:tensors of Container, index:0",
    ),
    "a user's variable and a library's": (
        """
lib = library('''
class Loop:
    def fit(self, model, call):
        outputs = model.outputs
        self.trainer.last = model
        return call()
class Trainer:
    def __init__(self):
        self.loop = Loop(); self.loop.trainer = self
    def fit(self, model, call):
        self.model = model
        return self.loop.fit(model, call)
''')
class Segmenter:
    def __init__(self):
        self.outputs = []
def main():
    trainer, model = lib.Trainer(), Segmenter()
    model.outputs.append({'scores': grow()})
    holder = [[[[model]]]]; del model
    trainer.fit(holder[0][0][0][0], show)
main()
""",
        "found True",
        "local:trainer, attribute:model of Trainer, attribute:outputs of Segmenter, index:0, item:'scores'",
    ),
    "views": (
        """
def main():
    first = [grow(100, 10)[0]]
    most = [grow(100, 10)[10:]]
    show()
main()
""",
        "found True",
        "local:first, index:0, view:40 of 4000",
        "local:most, index:0",
    ),
    "no collection in the midst of a complete scan": (
        """
class Meter:
    def __init__(self):
        self.update, self.values = self.add, [grow()]
    def add(self): pass
find_new = graph._labels.find_new
graph._labels.find_new = lambda: gc.get_threshold()[0] and gc.collect()
Meter(); show_all(); print(gc.get_threshold()[0] > 0)
graph._labels.find_new = find_new
""",
        "found None",
        "cycle:Meter → method → Meter, attribute:values of Meter, index:0",
        "True",
    ),
    "scans of marks and of further searches run on the polling thread": (
        """
scans = []
referrers, graph._scans._referrers = graph._referrers, types.SimpleNamespace(
    scan=lambda reason, _, limits: scans.append((reason, limits.total_s)),
    scan_growing=lambda reason, limits: scans.append(("growing", limits.total_s)),
    scan_all_growing=lambda reason, limits: scans.append(("all", limits.total_s)),
)
graph._scans._budget._spent.clear()
graph._newest_at_marks.extend((-1, -1)); graph._newest_at_steps.clear()
x = torch.ones(3, requires_grad=True) * 2
graph._newest_at_marks.extend((0, 0)); graph._plugin.live_nodes, live = (lambda: (9, 5)), graph._plugin.live_nodes
graph.marked("m"); print(scans)
core.scans_wanted = lambda: 200
graph._serve_request(); print(scans)
graph._poll(); print([(reason, limit > 0.05) for reason, limit in scans[1:]])
graph._poll(); graph._poll(); print([reason for reason, _ in scans[3:]])
graph._plugin.live_nodes = live; graph._scans._referrers = referrers
graph._scans.polling_thread = graph._tensors.polling_thread = 0
""",
        "[]",
        "[('growing', 0.03)]",
        "[('growing', True), ('mark m', True)]",
        "['all']",
    ),
    "the end of a search": (
        """
many = [[[i]] for i in range(1_000_000)]
def main():
    near = [grow()]
    show(); print(next(r for r, _ in messages if r.kind == _abi.HEAP_SCAN).heap_scan.objects < 100_000)
    blocks.append(4711)
    began = time.thread_time(); show(); print(time.thread_time() - began < 1.0)
main()
""",
        "found True",
        "local:near, index:0",
        "True",
        "found False",
        "True",
    ),
    "arrays that share the memory of tensors": (
        """
core.scans_wanted = int; gc.collect()  # the function before refers to variables of another case
class DLPackMemory: pass
class MemoryPointer: device_id = mem = None
class Array:
    def __init__(self, address):
        self.data = MemoryPointer()
        self.data.__dict__.update(ptr=address, device_id=0, mem=DLPackMemory())
sys.modules["cupy"] = types.SimpleNamespace(ndarray=Array)
graph._referrers._kinds[1]._sequences = lambda: [7]
def main():
    maps = {5: Array(grow().data_ptr())}
    addresses = list(blocks); show()
    blocks.extend(addresses); show(graph._referrers.scan_all_growing)
    print({record.referrer.sequence for record, _ in messages if record.kind == _abi.REFERRER})
main()
del sys.modules["cupy"]
""",
        "found True",
        "local:maps, item:5",
        "found None",
        "local:maps, item:5",
        "{7}",
    ),
    "owners stand for what they own": (
        """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
class Wrapper(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
identify = graph._plugin.identify
graph._plugin.identify = lambda impl: identify(impl)._replace(device=0)  # as if it were on a GPU
def show_owners():
    graph._labels.find_new(); del blocks[:]
    show(lambda reason, limits: graph._referrers.scan("memory grows", None, limits))
def main():
    zoo, first = [Net() for _ in range(2)], Net()
    optimizer = torch.optim.SGD(zoo[0].parameters(), momentum=0.9)
    zoo[0].body[1](torch.ones(2)).sum().backward()
    optimizer.step(); graph.optimizer_stepped(optimizer); optimizer.zero_grad()
    show_owners()
    wrapped, first, optimizer = Wrapper(first), None, None
    zoo[1].body[2].bias.data, zoo[1].body[2] = grow(), Wrapper(zoo[1].body[2])  # a part gets another owner
    show()
    del wrapped; zoo.clear(); gc.collect(); show_owners()
main(); graph._plugin.identify = identify
""",
        "found None",
        "local:optimizer, attribute:state of SGD, item:Parameter, item:'momentum_buffer'",
        "local:zoo, index:0, attribute:body of Net, attribute:1 of Sequential, attribute:weight of Linear",
        "local:zoo, index:1, attribute:body of Net, attribute:1 of Sequential, attribute:weight of Linear",
        "local:first, attribute:body of Net, attribute:1 of Sequential, attribute:weight of Linear",
        "found True",
        "local:zoo, index:0, attribute:body of Net, attribute:1 of Sequential, attribute:weight of Linear",
        "local:zoo, index:1, attribute:body of Net, attribute:1 of Sequential, attribute:weight of Linear",
        "local:wrapped, attribute:net of Wrapper, attribute:body of Net, attribute:1 of Sequential, "
        "attribute:weight of Linear",
        "local:zoo, index:1, attribute:body of Net, attribute:2 of Sequential, attribute:net of Wrapper, "
        "attribute:bias of Linear",
        "found None",
    ),
    "what stays is searched for again when time has passed": (
        """
scans = []
referrers, graph._scans._referrers = graph._referrers, types.SimpleNamespace(
    scan=lambda reason, _, limits: scans.append((reason, round(limits.total_s, 2)))
)
graph._scans._budget = _budget.Budget(share=0.01)
graph._scans._budget._spent.append((time.monotonic(), 0.05))  # such as that of a scan while a model was loaded
graph._bytes_at_scan, graph._allocated_bytes = 0, lambda: 10 << 20
for _ in range(5):
    graph._poll()
print(scans); graph._began -= graph._next_scan_s
graph._poll(); graph._poll(); print(len(scans))
graph._scans._referrers, graph._tensors.polling_thread, graph._scans.polling_thread = referrers, 0, 0
del graph._allocated_bytes; graph._allocated.clear()
""",
        "[('memory grows', 0.04)]",
        "2",
    ),
    "requests within the budget": (
        """
reasons, scan = [], graph._referrers.scan_growing
def work(reason, limits):
    reasons.append(limits); graph._scans._budget._spent.append((time.monotonic(), 0.035)); return True
graph._referrers.scan_growing = work
graph._scans._budget = _budget.Budget(share=0.01)
for wanted in range(1, 6):
    core.scans_wanted = lambda: wanted
    graph._scans._last_growth_scan_s = 0.04
    graph.step_ended(); graph.step_ended()
print(len(reasons), {limits.total_s for limits in reasons} == {0.03})
graph._scans._budget._spent.clear(); graph.step_ended(); print(len(reasons))
graph.step_ended(); print(len(reasons))
graph._referrers.scan_growing = scan
""",
        "2 True",
        "3",
        "3",
    ),
    "requests wait for the end of the first step": (
        """
reasons, scan = [], graph._referrers.scan_growing
graph._referrers.scan_growing = lambda reason, limits: reasons.append(reason) or True
graph._scans._budget._spent.clear(); graph._newest_at_steps.clear()
core.scans_wanted = lambda: 100
graph.backward_begins(); graph.backward_ends()
graph._serve_request(); print(len(reasons))
graph.step_ended(); print(len(reasons))
core.scans_wanted = lambda: 101
graph.backward_begins(); graph._serve_request(); print(len(reasons))
graph.backward_ends()
graph._referrers.scan_growing = scan
""",
        "0",
        "1",
        "2",
    ),
}


@unittest.skipUnless(HAS_TORCH, "torch cannot be imported: retention paths of tensors are skipped")
class Retention(unittest.TestCase):
    maxDiff = None

    def test_paths(self):
        """All programs run in one process, since that takes a tenth of the time."""
        programs = {name: program for name, (program, *_) in CASES.items()}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [TORCH_PYTHON, "-W", "ignore", "-X", "faulthandler", "-c", START + f"run({programs!r})"]
                + [folder + "/run.tide"],
                capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": PACKAGE},
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Atidemark: No allocator events were recorded, .* never initialized CUDA.*\n\Z")
        found = dict(part.split("\n", 1) for part in done.stdout.split("case ")[1:])
        in_order = sorted if sys.version_info < (3, 11) else list  # searches find other paths first there
        for name, (_, *expected) in CASES.items():
            with self.subTest(name):
                self.assertEqual(in_order(found[name].splitlines()), in_order(expected))


if __name__ == "__main__":
    unittest.main()
