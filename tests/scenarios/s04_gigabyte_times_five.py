"""S4: x of 1 GiB, y = 5 * x, mean(y).backward(): who made the extra GiB?

    python s04_gigabyte_times_five.py [--retain-grad] [--empty-cache] [--mib 1024]
"""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--retain-grad", action="store_true")
parser.add_argument("--empty-cache", action="store_true")
parser.add_argument("--mib", type=int, default=1024)
options = parser.parse_args()

x = torch.randn(options.mib * 2**18, device="cuda", requires_grad=True)
y = 5 * x
if options.retain_grad:
    y.retain_grad()
torch.mean(y).backward()
if options.empty_cache:
    torch.cuda.empty_cache()
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
