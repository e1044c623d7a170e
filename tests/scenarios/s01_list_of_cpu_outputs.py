"""S1: outputs moved to the CPU accumulate in a list, after backward(retain_graph=True). Each retains its graph.

    python s01_list_of_cpu_outputs.py [--no-retain] [--keep cpu|detached|output] [--size medium|1000] [--iterations 60]

Both are needed: the list retains the graphs, retain_graph retains their saved tensors.
"""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--no-retain", action="store_true")
parser.add_argument("--keep", choices=["cpu", "detached", "output"], default="cpu")
parser.add_argument("--iterations", type=int, default=60)
options = scenario.parse(parser)
width = options.size if isinstance(options.size, int) else options.many(1000)
noise, growth = Noise(options.noise), truth.Growth()

first = nn.Linear(width, width).cuda()
second = nn.Linear(width, width).cuda()
results = []
for iteration in range(options.iterations):
    inputs = torch.randn(width, device="cuda")
    output = second(first(inputs))
    output.sum().backward(retain_graph=not options.no_retain)
    if options.keep == "cpu":
        results.append(output.cpu())
    elif options.keep == "detached":
        results.append(output.detach().cpu())
    else:
        results.append(output)
    noise.iteration()
    growth.iteration()
growth.write()
print(f"{len(results)} results, {torch.cuda.memory_allocated():,} bytes allocated")
