"""W22: every new process group creates a communicator at its first collective; NCCL allocates its buffers outside
PyTorch."""

import os
import tempfile

import torch
import torch.distributed as dist

import scenario
from noise import Noise


def start(folder):
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    dist.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)


def make_groups(count):
    groups = [dist.new_group([0]) for _ in range(count)]
    for group in groups:
        dist.all_reduce(torch.ones(1024, device="cuda"), group=group)
        torch.cuda.synchronize()
    return groups


def train(gradients, groups, noise):
    for _ in range(10):
        for group in groups:
            dist.all_reduce(gradients, group=group)
        noise.iteration()
    torch.cuda.synchronize()


def main():
    options = scenario.options(__doc__)
    torch.cuda.set_device(0)
    noise = Noise(options.noise)
    with tempfile.TemporaryDirectory() as folder:
        start(folder)
        groups = make_groups(4)
        train(torch.ones(options.many(1 << 20), device="cuda"), groups, noise)
        print(f"{len(groups)} groups, {torch.cuda.memory_allocated():,} bytes allocated")
        dist.destroy_process_group()


main()
