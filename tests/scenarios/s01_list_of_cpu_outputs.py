"""S1: outputs moved to the CPU pile up in a list, after backward(retain_graph=True). Each keeps its whole graph.

    python s01_list_of_cpu_outputs.py [--no-retain] [--keep cpu|detached|output] [--size 1000] [--iterations 60]

Both are needed: the list keeps the graphs, retain_graph keeps what they saved.
"""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--no-retain", action="store_true")
parser.add_argument("--keep", choices=["cpu", "detached", "output"], default="cpu")
parser.add_argument("--size", type=int, default=1000)
parser.add_argument("--iterations", type=int, default=60)
options = parser.parse_args()

first = nn.Linear(options.size, options.size).cuda()
second = nn.Linear(options.size, options.size).cuda()
results = []
for iteration in range(options.iterations):
    inputs = torch.randn(options.size, device="cuda")
    output = second(first(inputs))
    output.sum().backward(retain_graph=not options.no_retain)
    if options.keep == "cpu":
        results.append(output.cpu())
    elif options.keep == "detached":
        results.append(output.detach().cpu())
    else:
        results.append(output)
print(f"{len(results)} results, {torch.cuda.memory_allocated():,} bytes allocated")
