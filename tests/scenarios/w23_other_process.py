"""W23: another user's process allocates memory on the same GPU for a while; this program uses little."""

import os
import subprocess
import sys
import time

import torch

import cuda_runtime
import scenario
import truth
from noise import Noise

SOMEBODY_ELSE = """
import ctypes, sys
sys.path.insert(0, sys.argv[3])
import cuda_runtime
cuda_runtime.allocate(ctypes.CDLL(sys.argv[1]), int(sys.argv[2]))
print("ready", flush=True)
sys.stdin.read()
"""


def start_somebody_else(size):
    """Starts the process in its own session, with only the environment that finds the libraries."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    here = os.path.dirname(os.path.abspath(__file__))
    other = subprocess.Popen(
        [sys.executable, "-c", SOMEBODY_ELSE, cuda_runtime.path(), str(size), here],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    if other.stdout.readline() != "ready\n":
        raise RuntimeError("the other process got no memory")
    return other


def work(seconds, noise):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        batch = torch.randn(1 << 18, device="cuda")
        batch.square().sum().item()
        noise.iteration()
        time.sleep(0.05)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    work(0.6, noise)
    size = options.many(1 << 30)
    other = start_somebody_else(size)
    work(1.5, noise)
    truth.write(others_at_least=size)
    other.communicate("")
    work(0.2, noise)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
