# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Image classification with a CUDA prefetcher that overlaps upload and normalisation with compute."""
import contextlib
import logging
import os
import tempfile
import time

import torch
import torch.nn.functional as F
from torchvision.models import resnet18

DEVICE = os.environ.get("DEVICE", "cuda")
ON_GPU = DEVICE == "cuda"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("train")

CFG = {
    "img": 224 if ON_GPU else 32,
    "batch": 192 if ON_GPU else 4,
    "steps_per_epoch": 7 if ON_GPU else 3,
    "epochs": 22 if ON_GPU else 4,
    "classes": 100,
    "lr": 0.1,
    "seed": 42,
    "max_seconds": 17.0,
}


class ShardLoader:
    """Host side loader: pinned uint8 batches."""

    def __init__(self, cfg):
        g = torch.Generator().manual_seed(cfg["seed"])
        shape = (cfg["batch"], 3, cfg["img"], cfg["img"])
        self.batches = []
        for _ in range(3):
            images = torch.randint(0, 255, shape, dtype=torch.uint8, generator=g)
            target = torch.randint(0, cfg["classes"], (cfg["batch"],), generator=g)
            if ON_GPU:
                images, target = images.pin_memory(), target.pin_memory()
            self.batches.append((images, target))
        self.n = cfg["steps_per_epoch"]

    def __len__(self):
        return self.n

    def __iter__(self):
        for i in range(self.n):
            time.sleep(0.02)
            yield self.batches[i % len(self.batches)]


class PrefetchLoader:
    """Uploads batch i+1 while batch i is being trained on."""

    def __init__(self, loader, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)):
        self.loader = loader
        self.mean = torch.tensor([m * 255 for m in mean], device=DEVICE).view(1, 3, 1, 1)
        self.std = torch.tensor([s * 255 for s in std], device=DEVICE).view(1, 3, 1, 1)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        if ON_GPU:
            stream = torch.cuda.Stream()
            stream_context = lambda: torch.cuda.stream(stream)
        else:
            stream = None
            stream_context = contextlib.nullcontext
        first = True
        images = target = None
        for next_images, next_target in self.loader:
            with stream_context():
                next_images = next_images.to(DEVICE, non_blocking=True)
                next_target = next_target.to(DEVICE, non_blocking=True)
                next_images = next_images.float().sub_(self.mean).div_(self.std)
            if not first:
                yield images, target
            else:
                first = False
            if stream is not None:
                torch.cuda.current_stream().wait_stream(stream)
            images, target = next_images, next_target
        yield images, target


class AverageMeter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def update(self, value):
        self.total += value
        self.n += 1

    @property
    def avg(self):
        return self.total / max(1, self.n)


def train_one_epoch(model, loader, optimizer, epoch):
    model.train()
    meter = AverageMeter()
    for images, target in loader:
        images = images.contiguous(memory_format=torch.channels_last)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = F.cross_entropy(model(images), target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        meter.update(loss.item())
    return meter.avg


def main():
    torch.manual_seed(CFG["seed"])
    model = resnet18(num_classes=CFG["classes"]).to(DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=CFG["lr"], momentum=0.9, weight_decay=5e-5)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, CFG["epochs"])
    loader = PrefetchLoader(ShardLoader(CFG))
    t0 = time.time()
    with tempfile.TemporaryDirectory() as tmp:
        for epoch in range(CFG["epochs"]):
            loss = train_one_epoch(model, loader, optimizer, epoch)
            scheduler.step()
            mem = ""
            if ON_GPU:
                mem = (f" allocated {torch.cuda.memory_allocated() >> 20} MiB"
                       f" reserved {torch.cuda.memory_reserved() >> 20} MiB")
            log.info("epoch %d loss %.4f lr %.4f%s", epoch, loss, scheduler.get_last_lr()[0], mem)
            torch.save(model.state_dict(), os.path.join(tmp, "last.pth"))
            if time.time() - t0 > CFG["max_seconds"]:
                break
    log.info("done in %.1fs", time.time() - t0)


if __name__ == "__main__":
    main()
