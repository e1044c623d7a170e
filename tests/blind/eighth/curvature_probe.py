# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a small ResNet and tracks the curvature of the loss (Hutchinson estimate of the Hessian trace)."""
import copy
import csv
import logging
import os
import tempfile
import time
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import resnet18

warnings.filterwarnings("ignore", category=UserWarning)
DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("curvature")

CFG = {
    "batch": 4 if TINY else 128,
    "img": 32 if TINY else 64,
    "steps": 70 if TINY else 140,
    "probe_every": 7,
    "probe_batch": 4 if TINY else 24,
    "probe_vectors": 2,
    "classes": 50,
    "lr": 0.05,
    "seed": 77,
    "max_seconds": 17.0,
}


class Images:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg["seed"])
        self.templates = torch.randn(cfg["classes"], 3, cfg["img"], cfg["img"], generator=self.gen)

    def batch(self, n):
        y = torch.randint(0, self.cfg["classes"], (n,), generator=self.gen)
        x = self.templates[y] + 0.5 * torch.randn(n, 3, self.cfg["img"], self.cfg["img"], generator=self.gen)
        return x.to(DEVICE), y.to(DEVICE)


class CurvatureProbe:
    """Works on a copy of the network so that the training gradients and batch-norm statistics stay untouched."""

    def __init__(self, data, batch_size, n_vectors):
        self.x, self.y = data.batch(batch_size)
        self.n_vectors = n_vectors
        self.history = []

    def __call__(self, model, step):
        net = copy.deepcopy(model).eval()
        net.zero_grad(set_to_none=True)
        params = [p for p in net.parameters() if p.requires_grad]
        loss = F.cross_entropy(net(self.x), self.y)
        loss.backward(create_graph=True)
        grads = [p.grad for p in params]

        estimates = []
        for _ in range(self.n_vectors):
            vs = [torch.randint_like(p, 2) * 2 - 1 for p in params]
            hvs = torch.autograd.grad(grads, params, grad_outputs=vs, retain_graph=True)
            estimates.append(sum((h * v).sum() for h, v in zip(hvs, vs)).item())
        grad_norm = torch.sqrt(sum(g.detach().pow(2).sum() for g in grads)).item()
        row = {"step": step, "loss": loss.item(), "trace": sum(estimates) / len(estimates), "grad_norm": grad_norm}
        self.history.append(row)
        return row


def train_step(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def write_csv(rows, path):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main():
    torch.manual_seed(CFG["seed"])
    data = Images(CFG)
    model = resnet18(num_classes=CFG["classes"])
    for m in model.modules():
        if isinstance(m, nn.ReLU):
            m.inplace = False
    model = model.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=CFG["lr"], momentum=0.9, nesterov=True)
    probe = CurvatureProbe(data, CFG["probe_batch"], CFG["probe_vectors"])
    t0, ema = time.time(), None
    with tempfile.TemporaryDirectory() as tmp:
        for step in range(CFG["steps"]):
            x, y = data.batch(CFG["batch"])
            loss = train_step(model, optimizer, x, y)
            ema = loss if ema is None else 0.9 * ema + 0.1 * loss
            if step % CFG["probe_every"] == 0:
                row = probe(model, step)
                log.info("step %d loss %.4f (%.4f) trace %.2f |g| %.3f %.1fs", step, loss, ema, row["trace"],
                         row["grad_norm"], time.time() - t0)
                write_csv(probe.history, os.path.join(tmp, "curvature.csv"))
            if step % 50 == 49:
                torch.save(model.state_dict(), os.path.join(tmp, "model.pt"))
            time.sleep(0 if TINY else 0.05)
            if time.time() - t0 > CFG["max_seconds"]:
                break
    log.info("%d probes, last trace %.2f", len(probe.history), probe.history[-1]["trace"])


if __name__ == "__main__":
    main()
