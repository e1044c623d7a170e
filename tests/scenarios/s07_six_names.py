"""S7: six large tensors with six names, compared with six tensors that take turns at one name.

    python s07_six_names.py [--one-name] [--mib 64] [--size small|medium|large]
"""

import torch

import scenario
import truth
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--one-name", action="store_true")
parser.add_argument("--mib", type=int)
options = scenario.parse(parser)
mib = options.mib or options.many(64)
count = mib * 2**18
noise = Noise(options.noise)

if options.one_name:
    a = torch.randn(count, device="cuda")
    a = torch.randn(count, device="cuda")
    a = torch.randn(count, device="cuda")
    a = torch.randn(count, device="cuda")
    a = torch.randn(count, device="cuda")
    a = torch.randn(count, device="cuda")
else:
    a = torch.randn(count, device="cuda")
    b = torch.randn(count, device="cuda")
    c = torch.randn(count, device="cuda")
    d = torch.randn(count, device="cuda")
    e = torch.randn(count, device="cuda")
    f = torch.randn(count, device="cuda")
noise.iteration()
truth.write(bytes=(1 if options.one_name else 6) * 4 * count)
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
