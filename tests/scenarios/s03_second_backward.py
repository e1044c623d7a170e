"""S3: y = x + 1 against z = 2 * (x * x): backward twice. The first succeeds again; the second raises.

    python s03_second_backward.py [--mib 16] [--size small|medium|large]
"""

import torch

import scenario
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--mib", type=int)
options = scenario.parse(parser)
mib = options.mib or options.many(16)
noise = Noise(options.noise)

x = torch.randn(mib * 2**18, device="cuda", requires_grad=True)
y = (x + 1).sum()
z = (2 * (x * x)).sum()
for name, loss in (("y", y), ("z", z)):
    loss.backward()
    noise.iteration()
    try:
        loss.backward()
        print(f"{name}: the second backward worked")
    except RuntimeError as error:
        print(f"{name}: the second backward raised: {str(error).splitlines()[0][:70]}")
print(f"{torch.cuda.memory_allocated():,} bytes allocated")
