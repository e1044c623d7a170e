"""S7: six large tensors under six names, against six times under the same name.

    python s07_six_names.py [--one-name] [--mib 64]
"""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--one-name", action="store_true")
parser.add_argument("--mib", type=int, default=64)
options = parser.parse_args()
count = options.mib * 2**18

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
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
