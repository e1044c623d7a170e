# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Nightly scoring of image shards with a vision transformer; bad shards are reported at the end."""
import io
import logging
import os
import tempfile
import time
import traceback
from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torchvision.models import VisionTransformer

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s")
log = logging.getLogger("nightly")

IMAGE = 32 if TINY else 224
BATCH = 4 if TINY else 192
SHARDS = 60 if TINY else 110
TIME_LIMIT = 17.0


class InvalidShard(RuntimeError):
    """Raised when the embeddings of a shard cannot be trusted."""


@dataclass
class ShardOutcome:
    shard: str
    status: str
    mean_score: float = float("nan")
    error: Exception | None = None


@dataclass
class Report:
    started: float = field(default_factory=time.time)
    outcomes: list = field(default_factory=list)

    def ok(self, shard, score):
        self.outcomes.append(ShardOutcome(shard, "ok", score))

    def failed(self, shard, error):
        self.outcomes.append(ShardOutcome(shard, "failed", error=error))

    @property
    def failures(self):
        return [o for o in self.outcomes if o.status == "failed"]

    def render(self):
        buf = io.StringIO()
        buf.write(f"{len(self.outcomes)} shards, {len(self.failures)} failed\n")
        for o in self.failures[:5]:
            last = traceback.extract_tb(o.error.__traceback__)[-1]
            buf.write(f"  {o.shard}: {o.error} ({last.name}:{last.lineno})\n")
        return buf.getvalue()


class ShardSource:
    """Reads shards of preprocessed uint8 images. A few of them come from the broken camera."""

    def __init__(self, n, seed=3):
        self.n = n
        self.gen = torch.Generator().manual_seed(seed)
        self.pixels = torch.randint(0, 255, (BATCH, 3, IMAGE, IMAGE), dtype=torch.uint8, generator=self.gen)

    def __iter__(self):
        for i in range(self.n):
            time.sleep(0.01 if TINY else 0.05)
            broken = bool(torch.rand(1, generator=self.gen) < 0.2)
            yield f"shard-{i:05d}", self.pixels.roll(i, 0), broken


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        kw = dict(hidden_dim=32, mlp_dim=64, num_layers=2, num_heads=2, patch_size=8) if TINY else \
            dict(hidden_dim=768, mlp_dim=3072, num_layers=8, num_heads=12, patch_size=16)
        self.backbone = VisionTransformer(image_size=IMAGE, num_classes=256, **kw)
        self.quality = nn.Linear(256, 1)

    def forward(self, x):
        z = self.backbone(x)
        return z, self.quality(z).squeeze(-1)


class NightlyJob:
    def __init__(self):
        self.model = Scorer().to(DEVICE).eval()
        self.mean = torch.tensor([0.485, 0.456, 0.406], device=DEVICE).view(1, 3, 1, 1)
        self.std = torch.tensor([0.229, 0.224, 0.225], device=DEVICE).view(1, 3, 1, 1)
        self.report = Report()

    def preprocess(self, pixels, broken):
        x = pixels.to(DEVICE, non_blocking=True).float().div_(255)
        x = (x - self.mean) / self.std
        if broken:
            x[:, :, : IMAGE // 4] = float("nan")
        return x

    @torch.no_grad()
    def score_shard(self, pixels, broken):
        x = self.preprocess(pixels, broken)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            emb, quality = self.model(x)
        if not torch.isfinite(emb).all():
            bad = int((~torch.isfinite(emb).all(dim=1)).sum())
            raise InvalidShard(f"{bad} of {len(emb)} embeddings are not finite")
        return quality.float().sigmoid().mean().item()

    def run(self, source):
        for name, pixels, broken in source:
            try:
                score = self.score_shard(pixels, broken)
            except InvalidShard as err:
                log.warning("%s skipped: %s", name, err)
                self.report.failed(name, err)
            else:
                self.report.ok(name, score)
            if len(self.report.outcomes) % 20 == 0:
                log.info("%d shards done, %d failed", len(self.report.outcomes), len(self.report.failures))
            if time.time() - self.report.started > TIME_LIMIT:
                break
        return self.report


def main():
    torch.manual_seed(3)
    job = NightlyJob()
    report = job.run(ShardSource(SHARDS))
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "report.txt")
        with open(path, "w") as f:
            f.write(report.render())
        print(open(path).read())


if __name__ == "__main__":
    main()
