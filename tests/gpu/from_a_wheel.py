# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Uses the wheel as a new user does: in a new environment, on a GPU, without a compiler.

    python tests/gpu/from_a_wheel.py WHEEL [--wheels FOLDER] [--keep FOLDER] [NAME...]

Run it with a Python that has torch. The new environment sees the packages of that Python. FOLDER has the wheels of
packages that it lacks (nbconvert, ipykernel, mcp); without them, their checks are skipped. Prints one line per check;
exit status 1 if one is wrong.
"""

import argparse
import glob
import importlib.util
import json
import os
import pickle
import shutil
import site
import subprocess
import sys
import tempfile
import textwrap
import time

TOOLS = ("sh", "env", "uname", "cat", "ls", "nvidia-smi", "ldconfig", "dirname", "readlink")  # no compiler among them

LEAK = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
losses = []
for step in range(40):
    loss = model(torch.randn(256, 1024, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(model(torch.randn(64, 1024, device="cuda")).mean())  # LEAK
torch.cuda.synchronize()
"""

TRAINER = """
import sys
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from tidemark.integrations.transformers import TidemarkCallback

rows = [{"input_ids": torch.randint(0, 1000, (32,)), "labels": torch.tensor(i % 2)} for i in range(160)]
config = BertConfig(vocab_size=1000, hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=256)
arguments = TrainingArguments(sys.argv[2], num_train_epochs=2, per_device_train_batch_size=8, eval_strategy="epoch",
                              logging_steps=10, report_to=[], save_strategy="no", disable_tqdm=True)
Trainer(BertForSequenceClassification(config), arguments, train_dataset=rows, eval_dataset=rows[:40],
        callbacks=[TidemarkCallback(sys.argv[1], force=True)]).train()
"""

LIGHTNING = """
import sys
import torch
import lightning
from tidemark.integrations.lightning import TidemarkCallback

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
    def training_step(self, batch):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def validation_step(self, batch):
        self.log("val_loss", self.training_step(batch))
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

data = torch.utils.data.TensorDataset(torch.randn(320, 64), torch.randint(0, 8, (320,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False,
                  enable_progress_bar=False, enable_model_summary=False,
                  callbacks=[TidemarkCallback(sys.argv[1], force=True)]).fit(Model(), loader, loader)
"""

ACCELERATE = """
import sys
import torch
import tidemark
from accelerate import Accelerator
from tidemark.integrations.accelerate import TidemarkTracker, watch

with tidemark.record(sys.argv[1], force=True):
    accelerator = Accelerator(log_with=TidemarkTracker())
    accelerator.init_trackers("training")
    watch(accelerator)
    model = torch.nn.Linear(64, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(320, 64), torch.randint(0, 8, (320,)))
    model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, batch_size=8))
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
    accelerator.log({"loss": loss.item()})
    accelerator.save_state(sys.argv[2])
    accelerator.end_training()
"""

PYTEST = """
import pytest
import torch

@pytest.mark.tidemark(max_peak="64MiB")
def test_small():
    torch.ones(1 << 20, device="cuda").sum().item()

@pytest.mark.tidemark(max_peak="64MiB")
def test_large():
    torch.ones(64 << 20, device="cuda").sum().item()

KEPT = []

@pytest.mark.tidemark(no_leak=True)
def test_leak():
    model = torch.nn.Linear(512, 512).cuda()
    for _ in range(40):
        KEPT.append(model(torch.randn(512, 512, device="cuda")).sum())
"""

DTENSOR = """
import os, sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", RANK="0", WORLD_SIZE="1")
torch.cuda.set_device(0)
dist.init_process_group("nccl")
mesh = init_device_mesh("cuda", (1,))

class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(1024, 4096), torch.nn.Linear(4096, 1024)
    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))

model = torch.nn.Sequential(*[Mlp() for _ in range(4)]).cuda()
for mlp in model:
    parallelize_module(mlp, mesh, {"up": ColwiseParallel(use_local_output=False), "down": RowwiseParallel()})
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(12):
    optimizer.zero_grad()
    model(torch.randn(4096, 1024, device="cuda")).pow(2).mean().backward()
    optimizer.step()
torch.cuda.synchronize()
dist.destroy_process_group()
"""


class Wrong(Exception):
    pass


class Skipped(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Wrong(str(message)[-1500:])


class User:
    """A new environment without a compiler on PATH."""

    def __init__(self, wheel, wheels, folder):
        self.wheel, self.wheels, self.folder = os.path.abspath(wheel), wheels, folder
        self.home = os.path.join(folder, "environment")
        self.python = os.path.join(self.home, "bin", "python")
        self.tidemark = os.path.join(self.home, "bin", "tidemark")
        tools = os.path.join(folder, "tools")
        os.mkdir(tools)
        for tool in filter(shutil.which, TOOLS):
            os.symlink(shutil.which(tool), os.path.join(tools, tool))
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("TIDEMARK_", "PYTHON"))},
            "PATH": f"{self.home}/bin:{tools}",
            "HOME": folder,
        }
        for compiler in ("c++", "g++", "gcc", "clang++", "nvcc"):
            require(shutil.which(compiler, path=self.environment["PATH"]) is None, f"{compiler} is on PATH")

    def run(self, *command, status=0):
        done = subprocess.run(
            command, capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=280
        )
        if status is not None:
            require(done.returncode == status, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def json(self, *words):
        done = subprocess.run(
            [self.tidemark, *words, "--format", "json"],
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder,
        )
        require(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)


def explanation(user):
    """From an empty folder to an explanation."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", user.home], check=True)
    packages = user.run(user.python, "-c", "import site; print(site.getsitepackages()[0])").strip()
    with open(os.path.join(packages, "of_torch.pth"), "w") as file:
        file.write("\n".join(site.getsitepackages()) + "\n")
    install = [sys.executable, "-m", "pip", "--python", user.python, "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*install, user.wheel], check=True)
    program = user.write("leak.py", LEAK)
    said = user.run(user.tidemark, "record", "-o", "leak.tide", "--", user.python, program)
    text = user.run(user.tidemark, "explain", "leak.tide")
    seconds = time.monotonic() - begin
    require("compil" not in said, said)
    line = next(i for i, text_of in enumerate(LEAK.splitlines(), 1) if "# LEAK" in text_of)
    finding = user.json("explain", "leak.tide")["findings"][0]
    require((finding["severity"], finding["line"].split(" ")[0]) == ("leak", f"leak.py:{line}"), text)
    require("losses" in text, text)
    nodes = user.run(user.tidemark, "query", "leak.tide", "SELECT count(*) FROM nodes", "--format", "csv")
    require(int(nodes.split()[-1]) > 0, "the trace has no graph, so no plugin was loaded")
    return f"{seconds:.1f} s; {finding['title']}"


def pandas(user):
    if importlib.util.find_spec("pandas") is None or importlib.util.find_spec("pyarrow") is None:
        raise Skipped("pandas and pyarrow are missing")
    return user.run(
        user.python,
        "-c",
        "import tidemark; run = tidemark.open('leak.tide'); peak = run.at('peak').allocations.to_pandas();"
        " assert peak.bytes.sum() > 1 << 20; assert run.findings().to_pandas().severity[0] == 'leak';"
        " print(len(run.events.to_pandas()), 'events')",
    ).strip()


def notebook(user):
    install_wheels(user, "nbconvert")
    cells = ["%load_ext tidemark", "%%tidemark -o cell.tide\n" + LEAK, "import tidemark; tidemark.show('leak.tide')"]
    book = {
        "cells": [
            {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
            for i, cell in enumerate(cells)
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    user.write("book.ipynb", json.dumps(book))
    user.run(user.python, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done.ipynb", "book.ipynb")
    with open(user.path("done.ipynb")) as file:
        outputs = [cell["outputs"] for cell in json.load(file)["cells"]]
    shown = ["".join("".join(o.get("data", {}).get("text/html", "")) for o in of_cell) for of_cell in outputs]
    require("losses" in shown[1] and "svg" in shown[1], outputs[1])
    require("losses" in shown[2] and "svg" in shown[2], outputs[2])
    return f"{len(shown[1])} and {len(shown[2])} bytes of HTML"


def install_wheels(user, package):
    """Installs all wheels of the folder, if the package is missing."""
    is_there = subprocess.run([user.python, "-c", f"import {package}"], capture_output=True, env=user.environment)
    if is_there.returncode == 0:
        return
    if user.wheels is None:
        raise Skipped(f"{package} is missing; --wheels names a folder with its wheel")
    install = [sys.executable, "-m", "pip", "--python", user.python, "install", "-q", "--no-index", "--no-deps"]
    done = subprocess.run([*install, *glob.glob(f"{user.wheels}/*.whl")], capture_output=True, text=True)
    require(done.returncode == 0, done.stderr)


def trainer(user):
    return framework(user, "trainer", TRAINER, steps=40, phases=["eval"])


def lightning(user):
    return framework(user, "lightning", LIGHTNING, steps=80, phases=["eval"])


def accelerate(user):
    return framework(user, "accelerate", ACCELERATE, steps=40, marks=["checkpoint"])


def framework(user, name, program, steps, phases=(), marks=()):
    trace = user.path(f"{name}.tide")
    user.run(user.python, user.write(f"{name}_program.py", program), trace, user.path(f"{name}_out"))
    info = user.json("info", trace)
    require(info["steps"] == steps, f"{info['steps']} steps instead of {steps}")
    text = user.run(user.tidemark, "query", trace, "SELECT name FROM mark") if marks else ""
    for mark in marks:
        require(mark in text, text)
    found = user.json("explain", trace)["findings"]
    require(not [f for f in found if f["severity"] == "leak"], found)
    return f"{info['steps']} steps, {info['devices'][0]['events']} events, no leak"


def tested(user):
    user.write("test_gpu.py", PYTEST)
    pytest = [user.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp=tests"]
    text = user.run(*pytest, "--tidemark", "--tidemark-require", "test_gpu.py", status=1)
    require("2 failed, 1 passed" in text, text)
    require("64" in text and "KEPT" in text, text)
    return "the large test and the leak failed, with 'KEPT'"


def baseline(user):
    text = user.run(
        user.tidemark, "check", "leak.tide", "--baseline", "trainer.tide", "--format", "markdown", status=None
    )
    require("|" in text, text)
    return text.strip().splitlines()[0]


def exported(user):
    user.run(user.tidemark, "export", "--format", "perfetto", "leak.tide", "-o", "leak.perfetto.json")
    with open(user.path("leak.perfetto.json")) as file:
        events = json.load(file)["traceEvents"]
    require(len(events) > 100, len(events))
    user.run(user.tidemark, "export", "--format", "memory_viz", "leak.tide", "-o", "leak.pickle")
    with open(user.path("leak.pickle"), "rb") as file:
        snapshot = pickle.load(file)
    require(snapshot["segments"] and snapshot["device_traces"][0], "empty")
    return f"{len(events)} events for Perfetto, {len(snapshot['device_traces'][0])} for memory_viz"


def agent(user):
    install_wheels(user, "mcp")
    text = user.run(user.python, user.write("agent.py", textwrap.dedent(AGENT)), user.tidemark, user.folder)
    require("losses" in text, text)
    return text.splitlines()[0]


AGENT = """
    import asyncio, sys
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def main():
        server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--root", sys.argv[2]])
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            print(len(tools), "tools")
            answer = await session.call_tool("explain", {"trace": "leak.tide"})
            print(answer.content[0].text)

    asyncio.run(main())
"""


def distributed_tensors(user):
    """Results that hide their memory are no workspaces."""
    program = user.write("dtensor.py", DTENSOR)
    user.run(user.tidemark, "record", "--detail", "full", "-o", "dtensor.tide", "--", user.python, program)
    (trace,) = glob.glob(user.path("dtensor.*.tide"))  # named by its rank
    rows = user.json("top", trace, "--by", "category", "--at", "peak")
    shares = {row["name"]: row["bytes"] for row in rows["groups"]}
    require(shares.get("workspace", 0) < 0.1 * sum(shares.values()), shares)
    return ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in shares.items())


CHECKS = (
    explanation, pandas, notebook, trainer, lightning, accelerate, tested, baseline, exported, agent,
    distributed_tensors,
)  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel")
    parser.add_argument("--wheels")
    parser.add_argument("--keep")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        user = User(options.wheel, options.wheels and os.path.abspath(options.wheels), folder)
        for check in CHECKS:
            if options.names and check is not explanation and check.__name__ not in options.names:
                continue
            begin = time.monotonic()
            try:
                outcome = f"ok       {check(user)}"
            except Skipped as reason:
                outcome = f"skipped  {reason}"
            except Exception as failure:
                wrong += 1
                outcome = f"WRONG    {type(failure).__name__}: {failure}"
            print(f"{check.__name__:20} {time.monotonic() - begin:6.1f} s  {outcome}", flush=True)
        if options.keep:
            for path in (
                glob.glob(f"{folder}/*.tide") + glob.glob(f"{folder}/tests/*/*.tide") + [user.path("done.ipynb")]
            ):
                if os.path.exists(path):
                    shutil.copy(path, options.keep)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
