"""W26: each episode and its buffer refer to each other; with automatic collection off, they accumulate until
gc.collect()."""

import gc

import torch

import scenario
import truth
from noise import Noise

COLLECT_EVERY = 12


class Buffer:
    def __init__(self, episode, elements):
        self.episode = episode
        self.states = torch.randn(elements, device="cuda")
        self.rewards = torch.zeros(elements // 8, device="cuda")


class Episode:
    def __init__(self, elements):
        self.buffer = Buffer(self, elements)

    def play(self):
        self.buffer.rewards += self.buffer.states[: len(self.buffer.rewards)]
        return self.buffer.rewards.sum().item()


def run(elements, noise):
    gc.disable()
    growth = 0
    for number in range(1, 55):
        before = torch.cuda.memory_allocated()
        Episode(elements).play()
        noise.iteration()
        growth = max(growth, torch.cuda.memory_allocated() - before)
        if number % COLLECT_EVERY == 0:
            gc.collect()
    truth.write(bytes=54 % COLLECT_EVERY * growth, highest=COLLECT_EVERY * growth, iterations=54)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    run(options.many(1 << 20), noise)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
