"""S4: x of 1 GiB, y = 5 * x, mean(y).backward(): which op allocated the extra GiB?

    python s04_gigabyte_times_five.py [--retain-grad] [--empty-cache] [--mib 1024] [--size small|medium|large]
"""

import torch

import scenario
import truth
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--retain-grad", action="store_true")
parser.add_argument("--empty-cache", action="store_true")
parser.add_argument("--mib", type=int)
options = scenario.parse(parser)
mib = options.mib or options.many(1024)
noise = Noise(options.noise)

x = torch.randn(mib * 2**18, device="cuda", requires_grad=True)
y = 5 * x
if options.retain_grad:
    y.retain_grad()
torch.mean(y).backward()
if options.empty_cache:
    torch.cuda.empty_cache()
noise.iteration()
truth.write(each=mib * 2**20, allocated=torch.cuda.memory_allocated(), reserved=torch.cuda.memory_reserved())
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
