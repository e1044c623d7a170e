# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Active learning for benthic photo quadrats: which patches of a reef transect should the expert name next?

The score of a patch is its entropy plus its Mahalanobis distance to the features seen in training, so that rare growth
forms are asked for early. The classifier goes on from the previous acquisition round.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import timm
import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    backbone: str = "resnet10t" if SMALL else "resnet18"
    patches: int = 60 if SMALL else 6000
    size: int = 32 if SMALL else 128
    species: int = 5 if SMALL else 24
    first: int = 16 if SMALL else 400
    per_round: int = 8 if SMALL else 120
    rounds: int = 3 if SMALL else 12
    steps: int = 4 if SMALL else 30
    batch: int = 8 if SMALL else 48
    scoring_batch: int = 30 if SMALL else 500
    momentum: float = 0.98
    lr: float = 1e-3


class Journal:
    def __init__(self, steps: int):
        self.stride = max(1, -(-steps // 200))
        self.steps = 0
        self.allocated = []

    def mark(self):
        self.steps += 1
        if DEVICE.type == "cuda" and self.steps % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.steps}), file=sys.stderr)


class Transect:
    """All patches of the dive as bytes on the GPU; the expert's answers are drawn from the texture that made a patch."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        popularity = torch.linspace(3.0, 0.2, cfg.species)
        self.answer = torch.multinomial(popularity, cfg.patches, replacement=True).to(DEVICE)
        textures = torch.rand(cfg.species, 3, 6, 6, device=DEVICE)
        pictures = []
        for part in self.answer.split(500):
            base = F.interpolate(textures[part], size=cfg.size, mode="bilinear")
            noisy = base + 0.35 * torch.randn(len(part), 3, cfg.size, cfg.size, device=DEVICE)
            pictures.append((noisy.clamp(0, 1) * 255).to(torch.uint8))
        self.pictures = torch.cat(pictures)
        self.labelled = torch.zeros(cfg.patches, dtype=torch.bool, device=DEVICE)
        self.ask(torch.randperm(cfg.patches, device=DEVICE)[: cfg.first])

    def ask(self, rows: torch.Tensor):
        self.labelled[rows] = True

    def images(self, rows: torch.Tensor) -> torch.Tensor:
        return self.pictures[rows].float().div_(127.5).sub_(1.0)

    def training_batch(self):
        known = self.labelled.nonzero().squeeze(1)
        rows = known[torch.randint(0, len(known), (self.cfg.batch,), device=DEVICE)]
        pictures = self.images(rows)
        if torch.rand(()) < 0.5:
            pictures = pictures.flip(3)
        return pictures, self.answer[rows]


class FeatureDensity:
    """Gaussian of the training features with slowly moving moments."""

    def __init__(self, width: int, momentum: float):
        self.momentum = momentum
        self.mean = torch.zeros(width, device=DEVICE)
        self.scatter = torch.eye(width, device=DEVICE)

    def observe(self, features: torch.Tensor):
        centre = features.mean(0)
        offsets = features - centre
        self.mean = self.momentum * self.mean + (1 - self.momentum) * centre.detach()
        self.scatter = self.momentum * self.scatter + (1 - self.momentum) * (offsets.T @ offsets) / len(features)

    @torch.no_grad()
    def precision(self) -> torch.Tensor:
        width = len(self.mean)
        ridge = 1e-3 * self.scatter.diagonal().mean() + 1e-6
        return torch.linalg.inv(self.scatter + ridge * torch.eye(width, device=DEVICE))


class Annotator:
    def __init__(self, cfg: Config, transect: Transect):
        self.cfg = cfg
        self.transect = transect
        self.backbone = timm.create_model(cfg.backbone, pretrained=False, num_classes=0).to(DEVICE)
        self.classify = nn.Linear(self.backbone.num_features, cfg.species).to(DEVICE)
        self.density = FeatureDensity(self.backbone.num_features, cfg.momentum)
        weights = [*self.backbone.parameters(), *self.classify.parameters()]
        self.optimizer = torch.optim.AdamW(weights, lr=cfg.lr, weight_decay=0.05)

    def step(self) -> torch.Tensor:
        pictures, answer = self.transect.training_batch()
        features = self.backbone(pictures)
        loss = F.cross_entropy(self.classify(features), answer, label_smoothing=0.05)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.density.observe(features)
        return loss.detach()

    def train(self, journal: Journal) -> float:
        self.backbone.train()
        total = torch.zeros((), device=DEVICE)
        for _ in range(self.cfg.steps):
            total += self.step()
            journal.mark()
        return total.item() / self.cfg.steps

    @torch.no_grad()
    def choose(self):
        """Scores the open patches and returns the best ones together with the accuracy on them."""
        self.backbone.eval()
        precision = self.density.precision()
        open_rows = (~self.transect.labelled).nonzero().squeeze(1)
        scores, right = [], 0
        for rows in open_rows.split(self.cfg.scoring_batch):
            features = self.backbone(self.transect.images(rows))
            logp = self.classify(features).log_softmax(1)
            entropy = -(logp.exp() * logp).sum(1)
            offset = features - self.density.mean
            distance = (offset @ precision * offset).sum(1).clamp(min=0).sqrt()
            scores.append(entropy + 0.05 * distance)
            right += (logp.argmax(1) == self.transect.answer[rows]).sum().item()
        best = torch.cat(scores).topk(min(self.cfg.per_round, len(open_rows))).indices
        return open_rows[best], right / len(open_rows)


def main():
    torch.manual_seed(12)
    cfg = Config()
    transect = Transect(cfg)
    annotator = Annotator(cfg, transect)
    journal = Journal(cfg.rounds * cfg.steps)
    started = time.time()
    for number in range(1, cfg.rounds + 1):
        loss = annotator.train(journal)
        wanted, accuracy = annotator.choose()
        transect.ask(wanted)
        print(f"round {number:2d}  loss {loss:.3f}  accuracy on open patches {accuracy:.3f}  "
              f"named {int(transect.labelled.sum())}  {time.time() - started:.1f} s")
    journal.close()


if __name__ == "__main__":
    main()
