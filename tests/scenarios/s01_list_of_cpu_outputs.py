"""S1: outputs moved to the CPU pile up in a list, after backward(retain_graph=True). Each keeps its whole graph."""

import torch
from torch import nn

first, second = nn.Linear(1000, 1000).cuda(), nn.Linear(1000, 1000).cuda()
results = []
for iteration in range(60):
    inputs = torch.randn(1000, device="cuda")
    output = second(first(inputs))
    output.sum().backward(retain_graph=True)
    results.append(output.cpu())
print(f"{len(results)} results, {torch.cuda.memory_allocated():,} bytes allocated")
