# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""ConvNeXt training recipe: AdamW, bf16, EMA of the weights after a warm-up, evaluation of both models."""
import argparse
import copy
import logging
import math
import os
import tempfile
import time

import timm
import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger(__name__)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="resnet18" if TINY else "convnext_small")
    p.add_argument("--img", type=int, default=32 if TINY else 192)
    p.add_argument("--batch", type=int, default=4 if TINY else 32)
    p.add_argument("--eval-batch", type=int, default=16 if TINY else 768)
    p.add_argument("--epochs", type=int, default=7)
    p.add_argument("--steps", type=int, default=3 if TINY else 20, help="steps per epoch")
    p.add_argument("--eval-steps", type=int, default=1 if TINY else 2)
    p.add_argument("--ema-decay", type=float, default=0.998)
    p.add_argument("--ema-start", type=int, default=4 if TINY else 30)
    p.add_argument("--lr", type=float, default=4e-4)
    p.add_argument("--warmup", type=int, default=20)
    p.add_argument("--max-seconds", type=float, default=17)
    return p.parse_args()


class ModelEma(nn.Module):
    def __init__(self, model, decay):
        super().__init__()
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, m in zip(self.module.state_dict().values(), model.state_dict().values()):
            if e.dtype.is_floating_point:
                e.mul_(self.decay).add_(m, alpha=1 - self.decay)
            else:
                e.copy_(m)


def batches(n, batch, img, classes, seed):
    g = torch.Generator().manual_seed(seed)
    n_unique = min(batch, 32)
    base = torch.randn(n_unique, 3, img, img, generator=g).repeat(math.ceil(batch / n_unique), 1, 1, 1)[:batch]
    for i in range(n):
        time.sleep(0.005)
        yield base.roll(i, 0), torch.randint(0, classes, (batch,), generator=g)


def lr_at(step, args, total):
    if step < args.warmup:
        return args.lr * (step + 1) / args.warmup
    t = (step - args.warmup) / max(1, total - args.warmup)
    return args.lr * 0.5 * (1 + math.cos(math.pi * min(1.0, t)))


@torch.no_grad()
def evaluate(model, args, classes):
    was_training = model.training
    model.eval()
    outputs, targets = [], []
    for x, y in batches(args.eval_steps, args.eval_batch, args.img, classes, seed=99):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            outputs.append(model(x.to(DEVICE)).float())
        targets.append(y.to(DEVICE))
    logits, y = torch.cat(outputs), torch.cat(targets)
    model.train(was_training)
    return (logits.argmax(1) == y).float().mean().item(), F.cross_entropy(logits, y).item()


def main():
    args = parse()
    torch.manual_seed(0)
    classes = 200
    model = timm.create_model(args.model, pretrained=False, num_classes=classes).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    ema, step, t0, best = None, 0, time.time(), 0.0
    total = args.epochs * args.steps
    with tempfile.TemporaryDirectory() as tmp:
        for epoch in range(args.epochs):
            model.train()
            losses = []
            for x, y in batches(args.steps, args.batch, args.img, classes, seed=epoch):
                for group in optimizer.param_groups:
                    group["lr"] = lr_at(step, args, total)
                x, y = x.to(DEVICE, non_blocking=True), y.to(DEVICE, non_blocking=True)
                with torch.autocast(DEVICE, dtype=torch.bfloat16):
                    loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                losses.append(loss.detach())
                step += 1
                if step == args.ema_start:
                    ema = ModelEma(model, args.ema_decay)
                    log.info("step %d: weight averaging starts", step)
                elif ema is not None:
                    ema.update(model)
            mean_loss = torch.stack(losses).mean().item()
            acc, val_loss = evaluate(model, args, classes)
            msg = f"epoch {epoch} loss {mean_loss:.3f} val {val_loss:.3f} acc {acc:.4f}"
            if ema is not None:
                ema_acc, ema_loss = evaluate(ema.module, args, classes)
                msg += f" ema val {ema_loss:.3f} acc {ema_acc:.4f}"
                acc = max(acc, ema_acc)
            if acc >= best:
                best = acc
                torch.save((ema.module if ema else model).state_dict(), os.path.join(tmp, "best.pt"))
            log.info("%s %.1fs", msg, time.time() - t0)
            if time.time() - t0 > args.max_seconds:
                break
    log.info("best accuracy %.4f after %d steps", best, step)


if __name__ == "__main__":
    main()
