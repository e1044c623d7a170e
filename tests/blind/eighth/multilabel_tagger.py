# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Multi-label tagging with a timm backbone, COCO-style labels, torchmetrics for the curves."""
import argparse
import logging
import os
import tempfile
import time

import timm
import torch
import torch.nn as nn
from torchmetrics import MetricCollection
from torchmetrics.classification import MultilabelAccuracy, MultilabelAveragePrecision, MultilabelF1Score

log = logging.getLogger("tagger")
DEVICE = os.environ.get("DEVICE", "cuda")
SMALL = DEVICE == "cpu"


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--arch", default="resnet18" if SMALL else "resnet50")
    p.add_argument("--img-size", type=int, default=32 if SMALL else 128)
    p.add_argument("--batch-size", type=int, default=8 if SMALL else 256)
    p.add_argument("--num-labels", type=int, default=40)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--steps-per-epoch", type=int, default=4 if SMALL else 32)
    p.add_argument("--val-steps", type=int, default=2 if SMALL else 4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--max-seconds", type=float, default=17.0)
    p.add_argument("--log-every", type=int, default=8)
    return p.parse_args()


class SyntheticTags:
    """Stands in for the image folder: decoded images plus a multi-hot tag matrix."""

    def __init__(self, args, steps, seed):
        self.args, self.steps = args, steps
        self.gen = torch.Generator().manual_seed(seed)
        self.pool = torch.randn(args.batch_size * 2, 3, args.img_size, args.img_size, generator=self.gen)

    def __iter__(self):
        a = self.args
        for _ in range(self.steps):
            start = int(torch.randint(0, a.batch_size, (1,), generator=self.gen))
            images = self.pool[start:start + a.batch_size]
            tags = (torch.rand(a.batch_size, a.num_labels, generator=self.gen) < 0.04).long()
            yield images, tags


def build_metrics(num_labels, prefix):
    return MetricCollection(
        {
            "acc": MultilabelAccuracy(num_labels=num_labels),
            "f1": MultilabelF1Score(num_labels=num_labels),
            "mAP": MultilabelAveragePrecision(num_labels=num_labels),
        },
        prefix=prefix,
        compute_groups=False,
    )


class Tagger:
    def __init__(self, args):
        self.args = args
        self.model = timm.create_model(args.arch, pretrained=False, num_classes=args.num_labels).to(DEVICE)
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr, weight_decay=0.05)
        self.train_metrics = build_metrics(args.num_labels, "train/").to(DEVICE)
        self.val_metrics = build_metrics(args.num_labels, "val/").to(DEVICE)
        self.global_step = 0

    def training_step(self, images, tags):
        images = images.to(DEVICE, non_blocking=True)
        tags = tags.to(DEVICE, non_blocking=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(images)
        loss = self.criterion(logits.float(), tags.float())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

        probs = logits.detach().float().sigmoid()
        batch_scores = self.train_metrics(probs, tags)
        self.global_step += 1
        return loss.item(), {k: v.item() for k, v in batch_scores.items()}

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        self.val_metrics.reset()
        for images, tags in loader:
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                logits = self.model(images.to(DEVICE))
            self.val_metrics.update(logits.float().sigmoid(), tags.to(DEVICE))
        scores = {k: v.item() for k, v in self.val_metrics.compute().items()}
        self.model.train()
        return scores

    def save(self, folder, epoch):
        path = os.path.join(folder, f"tagger_{epoch}.pt")
        torch.save({"model": self.model.state_dict(), "epoch": epoch}, path)
        return path


def main():
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(7)
    tagger = Tagger(args)
    train, val = SyntheticTags(args, args.steps_per_epoch, 1), SyntheticTags(args, args.val_steps, 2)
    t0, best = time.time(), -1.0
    with tempfile.TemporaryDirectory() as ckpt_dir:
        for epoch in range(args.epochs):
            for images, tags in train:
                loss, scores = tagger.training_step(images, tags)
                if tagger.global_step % args.log_every == 0:
                    log.info("epoch %d step %d loss %.4f batch mAP %.3f f1 %.3f", epoch, tagger.global_step,
                             loss, scores["train/mAP"], scores["train/f1"])
                if time.time() - t0 > args.max_seconds:
                    break
            scores = tagger.validate(val)
            log.info("epoch %d val %s", epoch, {k: round(v, 4) for k, v in scores.items()})
            if scores["val/mAP"] > best:
                best = scores["val/mAP"]
                tagger.save(ckpt_dir, epoch)
            if time.time() - t0 > args.max_seconds:
                break
    log.info("finished %d steps, best mAP %.4f, %.1fs", tagger.global_step, best, time.time() - t0)


if __name__ == "__main__":
    main()
