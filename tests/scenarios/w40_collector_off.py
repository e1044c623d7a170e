"""W40: the garbage collector is off, and an inner function that calls itself is a reference cycle: its variables, with
the scores of each step, stay."""

import gc

import torch

import scenario
import truth
from noise import Noise


def best_path(scores, depth):
    """Returns the largest sum of scores on a way down a binary tree."""

    def below(node, level):
        best = scores[node].max().item()
        if level == depth:
            return best
        return best + max(below(2 * node + 1, level + 1), below(2 * node + 2, level + 1))

    return below(0, 0)


def search(rows, noise):
    gc.disable()
    growth = truth.Growth()
    best = 0.0
    for _ in range(48):
        scores = torch.rand(rows, 1024, device="cuda")
        best = max(best, best_path(scores, 3))
        noise.iteration()
        growth.iteration()
    growth.write()
    return best


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    best = search(options.many(512), noise)
    print(f"best path {best:.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
