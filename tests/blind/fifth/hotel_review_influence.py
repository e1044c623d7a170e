# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Influence functions for a hotel review classifier: which training reviews made the model judge one test review so?"""

import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class InfluenceConfig:
    vocab_size: int = 256 if SMALL else 20000
    width: int = 16 if SMALL else 256
    blocks: int = 2 if SMALL else 3
    length: int = 12 if SMALL else 64
    classes: int = 5
    train_reviews: int = 96 if SMALL else 12288
    batch_size: int = 16 if SMALL else 192
    epochs: int = 1 if SMALL else 24
    influence_batch: int = 16 if SMALL else 32
    damping: float = 0.01
    scale: float = 50.0
    recursion_depth: int = 12 if SMALL else 36
    top_k: int = 5
    seed: int = 3


class TokenMixer(nn.Module):
    """Mixes over the positions, then over the features."""

    def __init__(self, length: int, width: int):
        super().__init__()
        self.norm_time = nn.LayerNorm(width)
        self.time = nn.Linear(length, length)
        self.norm_feature = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        x = x + self.time(self.norm_time(x).transpose(1, 2)).transpose(1, 2)
        return x + self.down(torch.tanh(self.up(self.norm_feature(x))))


class ReviewClassifier(nn.Module):
    def __init__(self, cfg: InfluenceConfig):
        super().__init__()
        self.embedding = nn.Embedding(cfg.vocab_size, cfg.width)
        self.mixers = nn.ModuleList(TokenMixer(cfg.length, cfg.width) for _ in range(cfg.blocks))
        self.norm = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, cfg.classes)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for mixer in self.mixers:
            x = mixer(x)
        return self.head(self.norm(x.mean(1)))


class ReviewSet:
    def __init__(self, cfg: InfluenceConfig, device: torch.device):
        generator = torch.Generator().manual_seed(cfg.seed)
        shape = (cfg.train_reviews, cfg.length)
        stars = torch.randint(0, cfg.classes, (cfg.train_reviews,), generator=generator)
        tokens = torch.randint(0, cfg.vocab_size, shape, generator=generator)
        band = cfg.vocab_size // cfg.classes
        tokens[:, ::6] = tokens[:, ::6] % band + (stars * band).unsqueeze(1)
        self.tokens, self.stars = tokens.to(device), stars.to(device)
        self.batch_size = cfg.batch_size

    def __len__(self):
        return len(self.stars)

    def batches(self):
        order = torch.randperm(len(self), device=self.stars.device)
        for chosen in order.split(self.batch_size):
            yield self.tokens[chosen], self.stars[chosen]

    def sample(self, count: int):
        chosen = torch.randint(0, len(self), (count,), device=self.stars.device)
        return self.tokens[chosen], self.stars[chosen]


def train(model: ReviewClassifier, reviews: ReviewSet, cfg: InfluenceConfig):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)
    for epoch in range(cfg.epochs):
        for tokens, stars in reviews.batches():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(tokens), stars)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
    optimizer.zero_grad(set_to_none=True)


class InfluenceEstimator:
    """Inverse Hessian vector products by stochastic recursion over the mixer and head weights."""

    def __init__(self, model: ReviewClassifier, reviews: ReviewSet, cfg: InfluenceConfig):
        self.model, self.reviews, self.cfg = model, reviews, cfg
        model.embedding.requires_grad_(False)
        self.weights = [p for p in model.parameters() if p.requires_grad]
        self.allocated = []

    def gradient(self, tokens, stars):
        loss = F.cross_entropy(self.model(tokens), stars)
        return [g.detach() for g in torch.autograd.grad(loss, self.weights)]

    def hessian_product(self, loss, vector):
        first = torch.autograd.grad(loss, self.weights, create_graph=True)
        inner = sum((g * v.detach()).sum() for g, v in zip(first, vector))
        return torch.autograd.grad(inner, self.weights, create_graph=True)

    def inverse_product(self, tokens, stars):
        cfg = self.cfg
        target = self.gradient(tokens, stars)
        estimate = list(target)
        for step in range(cfg.recursion_depth):
            sample_tokens, sample_stars = self.reviews.sample(cfg.influence_batch)
            loss = F.cross_entropy(self.model(sample_tokens), sample_stars)
            product = self.hessian_product(loss, estimate)
            estimate = [
                t + (1 - cfg.damping) * e - p / cfg.scale for t, e, p in zip(target, estimate, product, strict=True)
            ]
            del loss, product
            self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if step % 6 == 0:
                with torch.no_grad():
                    norm = sum(e.square().sum() for e in estimate).sqrt().item()
                print(f"  recursion {step + 1}: norm {norm:.4f}")
        return [e.detach() / cfg.scale for e in estimate]

    def scores(self, direction, tokens, stars):
        """First order effect of every given review on the test loss."""
        values = []
        for row in range(len(stars)):
            gradient = self.gradient(tokens[row : row + 1], stars[row : row + 1])
            values.append(-sum((g * d).sum() for g, d in zip(gradient, direction)))
        return torch.stack(values)


def report(scores: torch.Tensor, stars: torch.Tensor, top_k: int):
    helpful = scores.argsort()[:top_k].tolist()
    harmful = scores.argsort(descending=True)[:top_k].tolist()
    print("most helpful :", [(i, stars[i].item() + 1) for i in helpful])
    print("most harmful :", [(i, stars[i].item() + 1) for i in harmful])


def main():
    cfg = InfluenceConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    reviews = ReviewSet(cfg, device)
    model = ReviewClassifier(cfg).to(device)
    started = time.perf_counter()
    train(model, reviews, cfg)
    estimator = InfluenceEstimator(model, reviews, cfg)
    try:
        print("estimating the influence direction of test review 0")
        direction = estimator.inverse_product(reviews.tokens[:1], reviews.stars[:1])
        candidates = 8 if SMALL else 96
        scores = estimator.scores(direction, reviews.tokens[:candidates], reviews.stars[:candidates])
        report(scores, reviews.stars, cfg.top_k)
        print(f"done in {time.perf_counter() - started:.1f} s")
    finally:
        truth = {"allocated": estimator.allocated, "rounds": len(estimator.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
