"""Writes the memory that a program knows to be expected, as JSON, to the file that SCENARIO_TRUTH names.

`bytes` exist after the last iteration, `bytes_per_iteration` were added by each of `iterations` iterations.
"""

import json
import os

import torch

BLOCK = 512


def write(**known):
    path = os.environ.get("SCENARIO_TRUTH")
    if path:
        with open(path, "w") as file:
            json.dump(known, file)


def block(size):
    """Returns the block size for a request of this many bytes."""
    return (size + BLOCK - 1) // BLOCK * BLOCK


def bytes_of(tensors):
    """Returns the bytes of their storages. Each storage counts once."""
    sizes = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
    return sum(map(block, sizes.values()))


class Growth:
    """Allocated bytes at the end of each iteration; the first two iterations are warm-up."""

    def __init__(self):
        self.ends = []

    def iteration(self):
        self.ends.append(torch.cuda.memory_allocated())

    def write(self, **more):
        iterations = len(self.ends)
        per_iteration = (self.ends[-1] - self.ends[1]) // (iterations - 2)
        write(bytes=per_iteration * iterations, bytes_per_iteration=per_iteration, iterations=iterations, **more)
