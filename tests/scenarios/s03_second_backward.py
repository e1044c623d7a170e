"""S3: y = x + 1 against z = 2 * (x * x): backward twice. The first succeeds again, the second raises.

    python s03_second_backward.py [--mib 16]
"""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--mib", type=int, default=16)
options = parser.parse_args()

x = torch.randn(options.mib * 2**18, device="cuda", requires_grad=True)
y = (x + 1).sum()
z = (2 * (x * x)).sum()
for name, loss in (("y", y), ("z", z)):
    loss.backward()
    try:
        loss.backward()
        print(f"{name}: the second backward worked")
    except RuntimeError as error:
        print(f"{name}: the second backward raised: {str(error).splitlines()[0][:70]}")
print(f"{torch.cuda.memory_allocated():,} bytes allocated")
