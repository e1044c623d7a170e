"""W24: an extension allocates a workspace with cudaMalloc in each step and never frees it; PyTorch's
allocator is flat."""

import ctypes

import torch
from torch import nn

import cuda_runtime
import scenario
import truth
from noise import Noise


class FusedLoss:
    """Simulates an extension written in C."""

    def __init__(self, workspace_bytes):
        self.runtime = ctypes.CDLL(cuda_runtime.path())
        self.workspace_bytes = workspace_bytes

    def __call__(self, output):
        cuda_runtime.allocate(self.runtime, self.workspace_bytes)
        return output.square().mean()


def train(model, criterion, width, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(30):
        optimizer.zero_grad()
        criterion(model(torch.randn(64, width, device="cuda"))).backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    torch.cuda.init()
    noise = Noise(options.noise)
    workspace = options.many(8 << 20)
    train(nn.Linear(256, 256).cuda(), FusedLoss(workspace), 256, noise)
    truth.write(bytes=30 * workspace, bytes_per_iteration=workspace, iterations=30)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated by PyTorch")


main()
