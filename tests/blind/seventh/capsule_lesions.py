# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Lesion segmentation in capsule endoscopy with few labels.

Stage one: the encoder learns from unlabelled frames (SimSiam). Stage two: the encoder is frozen and a decoder
is trained on the annotated frames at a higher resolution.
"""
import json
import logging
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
import torchvision
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("capsule")


@dataclass
class Stage:
    steps: int
    batch: int
    size: int
    lr: float


@dataclass
class Plan:
    arch: str = "resnet18" if SMALL else "resnet50"
    embed: int = 64 if SMALL else 2048
    pretext: Stage = field(default_factory=lambda: Stage(4, 4, 32, 1e-4) if SMALL else Stage(60, 12, 112, 1e-4))
    segment: Stage = field(default_factory=lambda: Stage(8, 2, 64, 5e-4) if SMALL else Stage(280, 40, 256, 5e-4))


class Frames:
    """Mucosa-like colour fields with vignetting; lesions are redder blobs."""

    def __init__(self, seed):
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)

    def _noise(self, *shape):
        return torch.randn(*shape, device=DEVICE, generator=self.gen)

    def labelled(self, batch, size):
        field_ = F.interpolate(self._noise(batch, 1, 6, 6), size=(size, size), mode="bicubic")
        lesion = (field_ > 1.0).float()
        base = torch.tensor([0.75, 0.45, 0.3], device=DEVICE)[None, :, None, None]
        shade = F.interpolate(self._noise(batch, 3, 12, 12), size=(size, size), mode="bilinear")
        axis = torch.linspace(-1, 1, size, device=DEVICE)
        vignette = 1.0 - 0.4 * (axis[None] ** 2 + axis[:, None] ** 2)
        red = torch.tensor([0.15, -0.1, -0.1], device=DEVICE)[None, :, None, None]
        image = (base + 0.08 * shade + red * lesion) * vignette + 0.02 * self._noise(batch, 3, size, size)
        return image, lesion

    def views(self, batch, size):
        image, _ = self.labelled(batch, size)
        pair = []
        for _ in range(2):
            gain = 1.0 + 0.2 * self._noise(batch, 3, 1, 1)
            view = (image * gain).flip(-1) if len(pair) else image * gain
            pair.append(view + 0.05 * self._noise(batch, 3, size, size))
        return pair


class Encoder(nn.Module):
    def __init__(self, arch):
        super().__init__()
        net = getattr(torchvision.models, arch)(weights=None)
        self.width = net.fc.in_features
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool)
        self.stages = nn.ModuleList([net.layer1, net.layer2, net.layer3, net.layer4])

    def forward(self, x):
        x, maps = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class SimSiamHead(nn.Module):
    def __init__(self, width, embed):
        super().__init__()
        self.project = nn.Sequential(nn.Linear(width, embed, bias=False), nn.BatchNorm1d(embed), nn.ReLU(inplace=True),
                                     nn.Linear(embed, embed, bias=False), nn.BatchNorm1d(embed, affine=False))
        self.predict = nn.Sequential(nn.Linear(embed, embed // 4), nn.ReLU(inplace=True), nn.Linear(embed // 4, embed))

    def forward(self, pooled):
        z = self.project(pooled)
        return self.predict(z), z.detach()


class Decoder(nn.Module):
    def __init__(self, widths, inner=96):
        super().__init__()
        self.reduce = nn.ModuleList(nn.Conv2d(w, inner, 1) for w in widths)
        self.fuse = nn.ModuleList(nn.Sequential(nn.Conv2d(inner, inner, 3, padding=1), nn.GroupNorm(8, inner), nn.SiLU())
                                  for _ in widths)
        self.out = nn.Conv2d(inner, 1, 1)

    def forward(self, maps, size):
        x = self.fuse[-1](self.reduce[-1](maps[-1]))
        for k in range(len(maps) - 2, -1, -1):
            x = F.interpolate(x, size=maps[k].shape[-2:], mode="bilinear") + self.reduce[k](maps[k])
            x = self.fuse[k](x)
        return F.interpolate(self.out(x), size=(size, size), mode="bilinear")


class Study:
    def __init__(self, plan: Plan):
        self.plan = plan
        self.encoder = Encoder(plan.arch).to(DEVICE)
        self.optimizers = {}
        self.allocated, self.rounds = [], 0

    def tick(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def pretrain(self):
        stage = self.plan.pretext
        head = SimSiamHead(self.encoder.width, self.plan.embed).to(DEVICE)
        optimizer = self.optimizers["pretext"] = torch.optim.AdamW(
            [*self.encoder.parameters(), *head.parameters()], lr=stage.lr, weight_decay=1e-4)
        frames = Frames(seed=1)
        for step in range(stage.steps):
            (p1, z1), (p2, z2) = (head(self.encoder(v)[-1].mean((2, 3))) for v in frames.views(stage.batch, stage.size))
            loss = -0.5 * (F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.tick()
        log.info("pretext finished, similarity %.3f", -loss.item())

    def freeze(self):
        self.encoder.requires_grad_(False)
        self.encoder.eval()

    def segment(self):
        stage = self.plan.segment
        with torch.no_grad():
            widths = [m.shape[1] for m in self.encoder(torch.zeros(1, 3, 64, 64, device=DEVICE))]
        decoder = Decoder(widths).to(DEVICE)
        optimizer = self.optimizers["segment"] = torch.optim.AdamW(decoder.parameters(), lr=stage.lr)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, stage.lr, total_steps=stage.steps)
        frames = Frames(seed=2)
        for step in range(1, stage.steps + 1):
            image, lesion = frames.labelled(stage.batch, stage.size)
            logits = decoder(self.encoder(image), stage.size)
            dice = 1 - (2 * (logits.sigmoid() * lesion).sum() + 1) / (logits.sigmoid().sum() + lesion.sum() + 1)
            loss = F.binary_cross_entropy_with_logits(logits, lesion) + dice
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            self.tick()
            if step % max(1, stage.steps // 8) == 0:
                log.info("segment step %d loss %.3f lr %.1e", step, loss.item(), optimizer.param_groups[0]["lr"])
        return decoder


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.manual_seed(2)
    begin = time.time()
    study = Study(Plan())
    study.pretrain()
    study.freeze()
    study.segment()
    log.info("finished after %.0f s", time.time() - begin)
    print("TRUTH " + json.dumps({"allocated": study.allocated, "rounds": study.rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
