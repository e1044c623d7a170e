# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Searches for ligands in the latent space of a molecule decoder with trust-region Bayesian optimization.

In every round an exact Gaussian process over the points of the present trust region proposes a batch of latents. They
are decoded to token strings and scored for affinity and synthesizability. A region that has used up its evaluations
is given up, and the search starts anew around another molecule of the archive.
"""
import json
import math
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class SearchConfig:
    rounds: int = 48
    batch: int = 2048
    rounds_per_region: int = 8
    latent: int = 64
    pool: int = 16384
    lengthscales: tuple = (4.0, 8.0, 16.0)
    noise: float = 0.1
    exploration: float = 1.5
    radius: float = 0.8
    tokens: int = 48
    vocabulary: int = 64
    hidden: int = 512
    archive: int = 512
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @classmethod
    def from_environment(cls):
        if os.environ.get("SMALL") == "1":
            return cls(rounds=24, batch=32, rounds_per_region=4, latent=8, pool=128, tokens=6, vocabulary=16, hidden=32,
                       archive=16)
        return cls()


class MoleculeDecoder(nn.Module):
    """Greedy recurrent decoder from latents to token strings."""

    def __init__(self, config):
        super().__init__()
        self.tokens = config.tokens
        self.start = nn.Linear(config.latent, config.hidden)
        self.embed = nn.Embedding(config.vocabulary, config.hidden)
        self.cell = nn.GRUCell(config.hidden, config.hidden)
        self.emit = nn.Linear(config.hidden, config.vocabulary)

    @torch.no_grad()
    def forward(self, latents):
        state = torch.tanh(self.start(latents))
        token = torch.zeros(len(latents), dtype=torch.long, device=latents.device)
        strings = []
        for _ in range(self.tokens):
            state = self.cell(self.embed(token), state)
            token = self.emit(state).argmax(dim=1)
            strings.append(token)
        return torch.stack(strings, dim=1)


class Assay:
    """Two scores of a molecule: affinity to the pocket and ease of synthesis."""

    def __init__(self, config):
        self.config = config
        self.pocket = torch.randn(config.latent, device=config.device)
        self.rarity = torch.rand(config.vocabulary, device=config.device)

    def score(self, latents, strings):
        distance = (latents - self.pocket).square().mean(dim=1)
        affinity = torch.exp(-0.5 * distance) + 0.1 * torch.sin(3 * latents[:, 0])
        return torch.stack([affinity, 1 - self.rarity[strings].mean(dim=1)], dim=1)


class Surrogate:
    """Exact Gaussian process with one kernel for both scores."""

    def __init__(self, config):
        self.config = config
        self.latents, self.factor, self.weights = None, None, None

    def kernel(self, left, right, lengthscale):
        return torch.cdist(left, right).square_().mul_(-0.5 / lengthscale ** 2).exp_()

    def fit(self, latents, scores):
        self.latents, self.offset = latents, scores.mean(dim=0)
        centred = scores - self.offset
        self.factor, self.weights, best = None, None, -math.inf
        for lengthscale in self.config.lengthscales:
            covariance = self.kernel(latents, latents, lengthscale)
            covariance.diagonal().add_(self.config.noise)
            factor, failed = torch.linalg.cholesky_ex(covariance)
            del covariance
            if failed.item():
                continue
            weights = torch.cholesky_solve(centred, factor)
            evidence = -0.5 * (centred * weights).sum() - factor.diagonal().log().sum() * scores.shape[1]
            if evidence.item() > best:
                best, self.lengthscale = evidence.item(), lengthscale
                self.factor, self.weights = factor, weights

    def predict(self, candidates):
        means, variances = [], []
        for part in candidates.split(4096):
            cross = self.kernel(self.latents, part, self.lengthscale)
            means.append(cross.mT @ self.weights + self.offset)
            solved = torch.linalg.solve_triangular(self.factor, cross, upper=False)
            variances.append((1 - solved.square_().sum(dim=0)).clamp_(min=1e-6))
        return torch.cat(means), torch.cat(variances)


class Archive:
    def __init__(self, config):
        self.capacity = config.archive
        self.latents = torch.empty(0, config.latent, device=config.device)
        self.values = torch.empty(0, device=config.device)

    def add(self, latents, values):
        latents, values = torch.cat([self.latents, latents]), torch.cat([self.values, values])
        self.values, kept = values.topk(min(self.capacity, len(values)))
        self.latents = latents[kept]


class TrustRegion:
    def __init__(self, config, centre):
        self.config = config
        self.centre, self.radius = centre, config.radius
        self.latents, self.scores = [], []
        self.surrogate = Surrogate(config)

    def propose(self):
        scale = self.radius * torch.randn(self.config.pool, self.config.latent, device=self.config.device)
        candidates = self.centre + scale
        if self.surrogate.factor is None:
            return candidates[:self.config.batch]
        mean, variance = self.surrogate.predict(candidates)
        hope = mean.sum(dim=1) + self.config.exploration * variance.sqrt()
        return candidates[hope.topk(self.config.batch).indices]

    def observe(self, latents, scores):
        self.latents.append(latents)
        self.scores.append(scores)
        if self.exhausted():
            return
        self.surrogate.fit(torch.cat(self.latents), torch.cat(self.scores))
        values = torch.cat(self.scores).sum(dim=1)
        self.centre = self.surrogate.latents[values.argmax()].clone()
        self.radius *= 0.9

    def exhausted(self):
        return len(self.latents) >= self.config.rounds_per_region


class LigandSearch:
    def __init__(self, config):
        self.config = config
        self.decoder = MoleculeDecoder(config).to(config.device).eval()
        self.assay = Assay(config)
        self.archive = Archive(config)
        self.region = TrustRegion(config, torch.zeros(config.latent, device=config.device))
        self.regions = 1

    def round(self):
        latents = self.region.propose()
        scores = self.assay.score(latents, self.decoder(latents))
        self.archive.add(latents, scores.sum(dim=1))
        self.region.observe(latents, scores)
        if self.region.exhausted():
            seed = torch.randint(len(self.archive.latents), ())
            self.region = TrustRegion(self.config, self.archive.latents[seed].clone())
            self.regions += 1


def main():
    torch.manual_seed(9)
    config = SearchConfig.from_environment()
    allocated = []
    try:
        with torch.no_grad():
            search = LigandSearch(config)
            for number in range(1, config.rounds + 1):
                search.round()
                allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
                if number % config.rounds_per_region == 0:
                    print(f"round {number}: region {search.regions}, best {search.archive.values[0].item():.3f}, "
                          f"archive {len(search.archive.values)}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
