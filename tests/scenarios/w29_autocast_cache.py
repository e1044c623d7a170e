"""W29: candidates are scored inside one long autocast; until it ends, it retains a half-precision copy of every
weight and, through the copy, the weight itself, even of deleted models."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def build_candidate(width):
    return nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, 256)).cuda().eval()


def score_candidates(count, width, noise):
    growth, scores = truth.Growth(), []
    inputs = torch.randn(128, 256, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        for _ in range(count):
            candidate = build_candidate(width)
            scores.append(candidate(inputs).float().std().item())
            noise.iteration()
            growth.iteration()
        growth.write()
    return scores


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    scores = score_candidates(24, options.many(2048), noise)
    print(f"{len(scores)} scores, peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
