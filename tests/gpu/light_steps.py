# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Checks that light steps begin and end when they should, and that what is left at the end is recorded as in full.

    python tests/gpu/light_steps.py TIDEMARK

Records one program on the GPU with full and with adaptive detail. Prints one line per check; exit status 1 if one is
wrong.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile

PROGRAM = """
import gc, json, sys
import torch
from torch import nn
from tidemark import _api

gc.disable()
torch.manual_seed(0)
model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
data, labels = torch.randn(64, 256, device="cuda"), torch.randint(0, 256, (64,), device="cuda")
left, seen = [], {}

def train(steps, after_forward=lambda: None):
    for _ in range(steps):
        loss = nn.CrossEntropyLoss()(model(data), labels)  # a new module in each step
        after_forward()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del loss  # else the last one is freed when the function returns, which no step before did

def note(name):
    seen[name] = _api.current()._plugin.records_details() if _api.current() else None

def keep_scratch():
    left.append(torch.zeros(1 << 20, device="cuda"))

def keep_graph():
    left.append(model(data).mean())

train(150); note("equal steps")
train(1, keep_scratch); note("a step that retains memory")
train(40); note("equal steps again")
train(1, lambda: (torch.zeros(3 << 20, device="cuda"), note("within a step that differs")))
train(40)
train(10, keep_graph); note("steps that retain their graph")
train(40)
for _ in range(10):
    torch.autograd.grad(model(data).square().sum(), model.parameters(), create_graph=True)
    train(1)
note("graphs of derivatives")
train(40); note("equal steps at last")
with torch.no_grad():
    left.append(model(data)); note("another loop")
print(json.dumps(seen))
"""

EXPECTED = {
    "equal steps": 0,
    "a step that retains memory": 1,
    "equal steps again": 0,
    "within a step that differs": 1,
    "steps that retain their graph": 1,
    "graphs of derivatives": 1,
    "equal steps at last": 0,
    "another loop": 1,
}

# What exists at the end: bytes, the innermost lines, the last category, and whether a node of the graph saved it.
LEFT = """
SELECT requested,
  (SELECT group_concat(text, ' < ') FROM (SELECT text FROM stacks WHERE stacks.id = a.stack ORDER BY depth LIMIT 3)),
  (SELECT category FROM allocation_category c WHERE c.allocation = a.id ORDER BY c.id DESC LIMIT 1),
  EXISTS (SELECT 1 FROM saved_tensor s JOIN autograd_node n ON n.id = s.node
          WHERE s.allocation = a.id AND n.destroyed_time IS NULL AND n.released_time IS NULL),
  count(*) FROM allocation a WHERE free_after IS NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""

# The event that ends light steps comes inside an op that was not observed, so its memory has no category.
ENDS_LIGHT_STEPS = "keep_scratch"

wrong = 0


def check(name, passed, details=""):
    global wrong
    wrong += not passed
    print("ok  " if passed else "WRONG", name, "" if passed else details)


def main():
    tidemark = os.path.abspath(sys.argv[1])
    left = {}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w") as file:
            file.write(PROGRAM)
        for detail in ("full", "adaptive"):
            trace = os.path.join(folder, f"{detail}.tide")
            command = [tidemark, "record", "--detail", detail, "-o", trace, "--", sys.executable, program]
            run = subprocess.run(command, capture_output=True, text=True)
            seen = json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else run.stderr
            expected = dict.fromkeys(EXPECTED, 1) if detail == "full" else EXPECTED
            check(f"{detail}: details are recorded when they should", seen == expected, seen)
            rows = sqlite3.connect(trace).execute(LEFT).fetchall()
            left[detail] = [(*row[:2], None, *row[3:]) if ENDS_LIGHT_STEPS in row[1] else row for row in rows]
        same = left["full"] == left["adaptive"]
        check("what is left is recorded as in full", same, sorted(set(left["full"]) ^ set(left["adaptive"]), key=str))
        check("something is left", len(left["full"]) > 5, left["full"])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
