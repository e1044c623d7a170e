# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-grained image classification with a timm ResNet.

Progressive resizing (96 to 224 pixels), gradual unfreezing from the head down
and a moving average of the weights from the third stage on.
"""
import copy
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import timm
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("finegrained")


@dataclass
class Stage:
    size: int
    batch: int
    unfreeze: tuple
    lr: float


@dataclass
class Config:
    arch: str = "resnet18" if SMOKE else "resnet50"
    classes: int = 10 if SMOKE else 200
    images: int = 64 if SMOKE else 3072
    full_size: int = 64 if SMOKE else 256
    steps: int = 16 if SMOKE else 90
    stage_seconds: float = 4.0
    ema_from: int = 2
    decay: float = 0.995


def stages():
    sizes = (32, 32, 48, 64) if SMOKE else (96, 128, 176, 224)
    batch = 4 if SMOKE else 96
    groups = (("fc",), ("layer4",), ("layer3", "layer2"), ("layer1", "bn1", "conv1"))
    return [Stage(s, batch, g, lr) for s, g, lr in zip(sizes, groups, (0.05, 0.02, 0.01, 0.005))]


class Images:
    """Procedural images, uploaded once as uint8."""

    def __init__(self, cfg, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, cfg.classes, (n,), generator=gen).to(DEVICE)
        axis = torch.linspace(0, 6.28, cfg.full_size, device=DEVICE)
        self.x = torch.empty(n, 3, cfg.full_size, cfg.full_size, dtype=torch.uint8, device=DEVICE)
        for i in range(0, n, 256):
            f = 1 + self.y[i:i + 256, None, None, None].float() / cfg.classes * 9
            phase = torch.rand(len(f), 3, 1, 1, device=DEVICE) * 6
            wave = torch.sin(f * axis + phase) * torch.cos(f * axis[:, None])
            self.x[i:i + 256] = ((wave + 1) * 127).to(torch.uint8)

    def batch(self, n, size):
        idx = torch.randint(0, len(self.x), (n,), device=DEVICE)
        return self.resize(self.x[idx], size), self.y[idx]

    def resize(self, x, size):
        x = (x.float() / 127.5 - 1).contiguous(memory_format=torch.channels_last)
        return F.interpolate(x, size=(size, size), mode="bilinear", antialias=True)


class Averaged:
    def __init__(self, model, decay):
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        theirs = model.state_dict()
        for name, value in self.model.state_dict().items():
            if value.is_floating_point():
                value.lerp_(theirs[name], 1 - self.decay)
            else:
                value.copy_(theirs[name])


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.train_set, self.val_set = Images(cfg, cfg.images, 1), Images(cfg, cfg.images // 4, 2)
        self.model = timm.create_model(cfg.arch, pretrained=False, num_classes=cfg.classes)
        self.model = self.model.to(DEVICE, memory_format=torch.channels_last).requires_grad_(False)
        self.opt = None
        self.ema = None

    def unfreeze(self, stage):
        params = [p for name in stage.unfreeze for p in getattr(self.model, name).parameters()]
        for p in params:
            p.requires_grad_(True)
        if self.opt is None:
            self.opt = torch.optim.SGD(params, lr=stage.lr, momentum=0.9, weight_decay=1e-4)
            return
        self.opt.add_param_group({"params": params})
        for group in self.opt.param_groups:
            group["lr"] = stage.lr

    def forward_loss(self, x, y):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(x)
        return F.cross_entropy(logits.float(), y, label_smoothing=0.1)

    def run_stage(self, number, stage):
        self.unfreeze(stage)
        if number == self.cfg.ema_from:
            self.ema = Averaged(self.model, self.cfg.decay)
        self.model.train()
        began = time.time()
        for n in range(self.cfg.steps):
            loss = self.forward_loss(*self.train_set.batch(stage.batch, stage.size))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            if self.ema is not None:
                self.ema.update(self.model)
            value = loss.item()
            if n % 30 == 0:
                log.info("stage %d size %d step %d loss %.4f", number, stage.size, n, value)
            if n >= 15 and time.time() - began > self.cfg.stage_seconds:
                break

    @torch.inference_mode()
    def accuracy(self, size):
        net = self.ema.model if self.ema else self.model.eval()
        hits = 0
        for i in range(0, len(self.val_set.x), 256):
            x = self.val_set.resize(self.val_set.x[i:i + 256], size)
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                hits += (net(x).argmax(-1) == self.val_set.y[i:i + 256]).sum().item()
        return hits / len(self.val_set.x)


def main():
    torch.manual_seed(0)
    cfg = Config()
    trainer = Trainer(cfg)
    with tempfile.TemporaryDirectory() as folder:
        for number, stage in enumerate(stages()):
            trainer.run_stage(number, stage)
            log.info("stage %d accuracy %.3f", number, trainer.accuracy(int(stage.size * 1.15)))
            torch.save({"model": trainer.model.state_dict(), "opt": trainer.opt.state_dict()},
                       os.path.join(folder, f"stage{number}.pt"))


if __name__ == "__main__":
    main()
