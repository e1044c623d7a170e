# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Discovery of phoneme-like units: clusters frame features, trains the encoder on the units, and starts over."""

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
class UnitConfig:
    mels: int = 16 if SMALL else 80
    width: int = 16 if SMALL else 512
    layers: int = 2 if SMALL else 6
    heads: int = 2 if SMALL else 8
    frames: int = 20 if SMALL else 400
    batch_size: int = 4 if SMALL else 32
    corpus_batches: int = 4 if SMALL else 64
    units: tuple = (4, 6, 8) if SMALL else (64, 96, 128)
    kmeans_rounds: int = 3 if SMALL else 10
    train_steps: int = 6 if SMALL else 160
    feature_layer: int = 1 if SMALL else 4
    mask_share: float = 0.3
    learning_rate: float = 2e-4
    seed: int = 7


class UtteranceCorpus:
    """Synthetic utterances: a fixed seed per batch, so that every pass hears the same frames."""

    def __init__(self, cfg: UnitConfig, device: torch.device):
        self.cfg, self.device = cfg, device
        generator = torch.Generator(device=device).manual_seed(cfg.seed)
        self.templates = torch.randn(24, cfg.mels, generator=generator, device=device)

    def __len__(self):
        return self.cfg.corpus_batches

    def __getitem__(self, index: int) -> torch.Tensor:
        cfg = self.cfg
        generator = torch.Generator(device=self.device).manual_seed(cfg.seed * 1000 + index)
        segments = torch.randint(0, 24, (cfg.batch_size, cfg.frames // 5), generator=generator, device=self.device)
        frames = self.templates[segments.repeat_interleave(5, dim=1)]
        return frames + 0.4 * torch.randn(frames.shape, generator=generator, device=self.device)


class FrameEncoder(nn.Module):
    def __init__(self, cfg: UnitConfig):
        super().__init__()
        self.project = nn.Linear(cfg.mels, cfg.width)
        self.mask_vector = nn.Parameter(torch.zeros(cfg.width))
        self.position = nn.Conv1d(cfg.width, cfg.width, 9, padding=4, groups=cfg.heads)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.width, cfg.heads, 4 * cfg.width, dropout=0.0, batch_first=True)
            for _ in range(cfg.layers)
        )

    def forward(self, frames, mask=None, stop_at=None):
        x = self.project(frames)
        if mask is not None:
            x = torch.where(mask.unsqueeze(-1), self.mask_vector, x)
        x = x + F.gelu(self.position(x.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers[:stop_at]:
            x = layer(x)
        return x


class KMeans:
    """Lloyd iterations over chunks of frames that lie on the device."""

    def __init__(self, units: int, rounds: int):
        self.units, self.rounds = units, rounds
        self.centers = None

    def fit(self, chunks: list):
        start = torch.randperm(len(chunks[0]), device=chunks[0].device)[: self.units]
        self.centers = chunks[0][start].clone()
        for _ in range(self.rounds):
            sums = torch.zeros_like(self.centers)
            counts = torch.zeros(self.units, device=self.centers.device)
            for chunk in chunks:
                assigned = self.assign(chunk)
                sums.index_add_(0, assigned, chunk)
                counts += torch.bincount(assigned, minlength=self.units)
            filled = counts > 0
            self.centers = torch.where(filled.unsqueeze(1), sums / counts.clamp_min(1).unsqueeze(1), self.centers)
        return self

    def assign(self, chunk: torch.Tensor) -> torch.Tensor:
        distance = self.centers.square().sum(1) - 2 * chunk @ self.centers.T
        return distance.argmin(1)


class UnitDiscovery:
    def __init__(self, cfg: UnitConfig, device: torch.device):
        self.cfg, self.device = cfg, device
        self.corpus = UtteranceCorpus(cfg, device)
        self.encoder = FrameEncoder(cfg).to(device)
        self.optimizer = torch.optim.AdamW(self.encoder.parameters(), lr=cfg.learning_rate)
        self.features = []
        self.allocated = []

    def mark(self):
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)

    @torch.no_grad()
    def extract(self):
        self.encoder.eval()
        for index in range(len(self.corpus)):
            hidden = self.encoder(self.corpus[index], stop_at=self.cfg.feature_layer)
            self.features.append(hidden.flatten(0, 1))
            self.mark()

    @torch.no_grad()
    def label(self, units: int) -> list:
        kmeans = KMeans(units, self.cfg.kmeans_rounds).fit(self.features)
        labels = [kmeans.assign(chunk).view(self.cfg.batch_size, self.cfg.frames) for chunk in self.features]
        self.features.clear()
        return labels

    def train(self, labels: list, units: int) -> float:
        head = nn.Linear(self.cfg.width, units).to(self.device)
        head_optimizer = torch.optim.AdamW(head.parameters(), lr=self.cfg.learning_rate)
        self.encoder.train()
        for step in range(self.cfg.train_steps):
            index = step % len(self.corpus)
            frames = self.corpus[index]
            mask = torch.rand(frames.shape[:2], device=self.device) < self.cfg.mask_share
            loss = F.cross_entropy(head(self.encoder(frames, mask=mask)[mask]), labels[index][mask])
            loss.backward()
            self.optimizer.step()
            head_optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            head_optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def run(self):
        for number, units in enumerate(self.cfg.units):
            self.extract()
            labels = self.label(units)
            used = len(torch.cat([chunk.flatten() for chunk in labels]).unique())
            self.mark()
            loss = self.train(labels, units)
            self.mark()
            print(f"pass {number}: {used} of {units} units in use, loss {loss:.4f}")


def main():
    cfg = UnitConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    discovery = UnitDiscovery(cfg, device)
    started = time.perf_counter()
    try:
        discovery.run()
        print(f"done in {time.perf_counter() - started:.1f} s")
    finally:
        truth = {"allocated": discovery.allocated, "rounds": len(discovery.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
