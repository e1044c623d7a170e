"""S6: a tensor of one element, and nvidia-smi shows hundreds of MiB."""

import time

import torch

one = torch.ones(1, device="cuda")
torch.cuda.synchronize()
time.sleep(1.0)
print(f"{one.numel()} element, {torch.cuda.memory_allocated()} bytes allocated")
