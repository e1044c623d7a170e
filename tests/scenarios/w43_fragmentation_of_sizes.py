"""W43: requests differ in length and get longer, and a summary of each stays for a while in the memory of the one
before: reserved memory climbs although little is allocated."""

import collections

import torch

import scenario
import truth
from noise import Noise

SUMMARY = 1 << 19  # elements: 2 MiB
REQUESTS = 48


def answer(length_bytes):
    hidden = torch.ones(length_bytes // 4, device="cuda")
    scores = torch.ones(length_bytes // 8, device="cuda")
    hidden[: len(scores)] *= scores
    return hidden[:SUMMARY].clone()


def serve(unit, noise):
    recent = collections.deque(maxlen=12)
    for number in range(REQUESTS):
        length = 24 + number - number % 2 * 3
        summary = answer(unit * length)
        recent.append(summary)
        noise.iteration()
    truth.write(allocated=torch.cuda.max_memory_allocated(), reserved=torch.cuda.memory_reserved())
    return recent


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    recent = serve(options.wide(1 << 20), noise)
    allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
    print(f"{len(recent)} summaries, at most {allocated:,} bytes allocated, {reserved:,} bytes reserved")


main()
