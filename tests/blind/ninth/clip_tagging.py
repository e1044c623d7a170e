# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Audio tagging head on pre-computed clip embeddings (multi-label).

Features of the whole training split are put on the device in pieces at the
start; validation mAP is measured after each epoch with torchmetrics.
"""
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
from torchmetrics import MeanMetric
from torchmetrics.classification import MultilabelAveragePrecision

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("tagging")


@dataclass
class Config:
    train_clips: int = 512 if SMOKE else 65536
    val_clips: int = 256 if SMOKE else 16384
    frames: int = 4 if SMOKE else 10
    feat: int = 32 if SMOKE else 512
    hidden: int = 64 if SMOKE else 1024
    labels: int = 10 if SMOKE else 200
    batch: int = 64 if SMOKE else 1024
    epochs: int = 10 if SMOKE else 26
    lr: float = 2e-3
    seconds: float = 19.0


class AttentionPoolTagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(cfg.feat, cfg.hidden), nn.GELU(), nn.Dropout(0.1),
                                  nn.Linear(cfg.hidden, cfg.hidden), nn.GELU())
        self.att = nn.Linear(cfg.hidden, cfg.labels)
        self.cls = nn.Linear(cfg.hidden, cfg.labels)

    def forward(self, x):
        h = self.proj(x)
        weights = self.att(h).softmax(dim=1)
        return (weights * self.cls(h)).sum(dim=1)


class ClipStore:
    """Features and multi-hot targets of one split, resident on the device."""

    def __init__(self, n, cfg, seed):
        gen = torch.Generator().manual_seed(seed)
        basis = torch.randn(cfg.labels, cfg.feat, generator=torch.Generator().manual_seed(99))
        self.x = torch.empty(n, cfg.frames, cfg.feat, dtype=torch.half, device=DEVICE)
        self.y = torch.empty(n, cfg.labels, dtype=torch.long, device=DEVICE)
        piece = 4096
        for i in range(0, n, piece):
            k = min(piece, n - i)
            y = (torch.rand(k, cfg.labels, generator=gen) < 0.02).long()
            clip = (y.float() @ basis).to(DEVICE)
            noise = torch.randn(k, cfg.frames, cfg.feat, device=DEVICE)
            self.x[i:i + k] = (clip[:, None] + noise).half()
            self.y[i:i + k] = y.to(DEVICE)

    def batches(self, size, shuffle):
        n = len(self.x)
        order = torch.randperm(n, device=DEVICE) if shuffle else torch.arange(n, device=DEVICE)
        for idx in order.split(size):
            yield self.x[idx].float(), self.y[idx]


class TaggingTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.train_set = ClipStore(cfg.train_clips, cfg, seed=1)
        self.val_set = ClipStore(cfg.val_clips, cfg, seed=2)
        self.model = AttentionPoolTagger(cfg).to(DEVICE)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.train_loss = MeanMetric().to(DEVICE)
        self.val_loss = MeanMetric().to(DEVICE)
        self.val_map = MultilabelAveragePrecision(
            num_labels=cfg.labels, average="macro", thresholds=None, validate_args=False).to(DEVICE)
        self.best = 0.0

    def train_epoch(self):
        self.model.train()
        self.train_loss.reset()
        for x, y in self.train_set.batches(self.cfg.batch, shuffle=True):
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                logits = self.model(x)
            loss = self.loss_fn(logits.float(), y.float())
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            self.train_loss.update(loss.detach())
        return self.train_loss.compute().item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        self.val_loss.reset()
        for x, y in self.val_set.batches(4 * self.cfg.batch, shuffle=False):
            logits = self.model(x)
            self.val_loss.update(self.loss_fn(logits, y.float()))
            self.val_map.update(logits.sigmoid(), y)
        return self.val_loss.compute().item(), self.val_map.compute().item()

    def save(self, folder, epoch):
        torch.save({"epoch": epoch, "model": self.model.state_dict()}, os.path.join(folder, "best.pt"))


def main():
    torch.manual_seed(0)
    cfg = Config()
    trainer = TaggingTrainer(cfg)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(cfg.epochs):
            train_loss = trainer.train_epoch()
            val_loss, val_map = trainer.validate()
            if val_map > trainer.best:
                trainer.best = val_map
                trainer.save(folder, epoch)
            log.info("epoch %d train %.4f val %.4f mAP %.4f", epoch, train_loss, val_loss, val_map)
            if time.time() - began > cfg.seconds:
                break
    log.info("best mAP %.4f", trainer.best)


if __name__ == "__main__":
    main()
