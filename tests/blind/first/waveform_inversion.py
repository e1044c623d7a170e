# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Full-waveform inversion of a 2-D velocity model by automatic differentiation.

Every iteration fires a few shots at random positions, propagates them with the acoustic equation and compares the
recorded traces with the observed ones.
"""
import json
import logging
import logging.handlers
import math
import os
import sys
import time
import weakref
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("fwi")


@dataclass
class Survey:
    depth: int = 32 if SMALL else 256
    width: int = 48 if SMALL else 1024
    shots: int = 2 if SMALL else 8
    samples: int = 20 if SMALL else 120
    dx: float = 10.0
    dt: float = 1e-3
    peak_hz: float = 12.0
    iterations: int = 30 if SMALL else 80
    lr: float = 8.0
    smooth: int = 5
    queue_delay: float = 0.0 if SMALL else 0.01
    seed: int = 8


def setup_logging():
    """Progress goes to the console, the trail to stderr with the first error."""
    console = logging.StreamHandler(sys.stdout)
    console.setLevel(logging.INFO)
    console.setFormatter(logging.Formatter("%(message)s"))
    trail = logging.handlers.MemoryHandler(
        capacity=100_000, flushLevel=logging.ERROR, target=logging.StreamHandler(sys.stderr), flushOnClose=False)
    trail.setLevel(logging.DEBUG)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    log.addHandler(console)
    log.addHandler(trail)


def ricker(cfg: Survey):
    t = torch.arange(cfg.samples, device=DEVICE) * cfg.dt - 1.0 / cfg.peak_hz
    a = (math.pi * cfg.peak_hz * t) ** 2
    return (1 - 2 * a) * torch.exp(-a)


def discard_trail():
    for handler in log.handlers:
        if isinstance(handler, logging.handlers.MemoryHandler):
            handler.buffer.clear()


class Propagator:
    def __init__(self, cfg: Survey):
        self.cfg = cfg
        self.wavelet = ricker(cfg)
        kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], device=DEVICE) / cfg.dx ** 2
        self.laplacian = kernel.view(1, 1, 3, 3)
        ramp = torch.ones(cfg.depth, cfg.width, device=DEVICE)
        ramp[-10:], ramp[:, :10], ramp[:, -10:] = 0.97, 0.97, 0.97
        self.sponge = ramp
        self.by_model = weakref.WeakKeyDictionary()

    def factor(self, velocity):
        return (velocity * self.cfg.dt) ** 2

    def __call__(self, velocity, columns):
        cfg = self.cfg
        factor = self.factor(velocity)
        past = torch.zeros(len(columns), 1, cfg.depth, cfg.width, device=DEVICE)
        now = torch.zeros_like(past)
        source = torch.zeros_like(past)
        source[torch.arange(len(columns), device=DEVICE), 0, 4, columns] = 1.0
        traces = []
        for k in range(cfg.samples):
            ahead = 2 * now - past + factor * (F.conv2d(now, self.laplacian, padding=1) + self.wavelet[k] * source)
            past, now = now * self.sponge, ahead * self.sponge
            traces.append(now[:, 0, 2])
        return torch.stack(traces, dim=1)


class Inversion:
    def __init__(self, cfg: Survey):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)
        self.propagate = Propagator(cfg)
        rows = torch.linspace(1500.0, 3000.0, cfg.depth).view(-1, 1).expand(-1, cfg.width)
        self.truth = rows.clone()
        self.truth += 120.0 * torch.sin(torch.arange(cfg.width) * 0.05) + 80.0
        self.truth[cfg.depth // 3:cfg.depth // 2, cfg.width // 4:cfg.width // 2] += 300.0
        self.truth = self.truth.to(DEVICE)
        self.velocity = rows.contiguous().to(DEVICE).requires_grad_()
        self.optimizer = torch.optim.Adam([self.velocity], lr=cfg.lr)
        self.misfits = []

    def observed(self, columns):
        with torch.no_grad():
            return self.propagate(self.truth, columns)

    def precondition(self):
        k = self.cfg.smooth
        g = self.velocity.grad[None, None]
        self.velocity.grad.copy_(F.avg_pool2d(g, k, stride=1, padding=k // 2, count_include_pad=False)[0, 0])

    def iterate(self, index):
        columns = torch.randint(12, self.cfg.width - 12, (self.cfg.shots,), generator=self.generator).to(DEVICE)
        observed = self.observed(columns)
        predicted = self.propagate(self.velocity, columns)
        residual = (predicted - observed) / (observed.abs().amax() + 1e-12)
        misfit = 0.5 * residual.square().mean()
        log.debug("iteration %d shots at %s residual %s", index, columns, residual)
        self.optimizer.zero_grad(set_to_none=True)
        misfit.backward()
        self.precondition()
        self.optimizer.step()
        with torch.no_grad():
            self.velocity.clamp_(1200.0, 4500.0)
        self.misfits.append(misfit.item())


def main():
    cfg = Survey()
    torch.manual_seed(cfg.seed)
    setup_logging()
    inversion = Inversion(cfg)
    seen = []
    for index in range(cfg.iterations):
        inversion.iterate(index)
        if (index + 1) % (cfg.iterations // 10) == 0:
            seen.append(torch.cuda.memory_allocated())
            log.info("iteration %d misfit %.4e velocity %.0f..%.0f m/s", index + 1, inversion.misfits[-1],
                     inversion.velocity.min().item(), inversion.velocity.max().item())
        time.sleep(cfg.queue_delay)
    error = (inversion.velocity.detach() - inversion.truth).abs().mean().item()
    log.info("mean model error %.1f m/s", error)
    discard_trail()
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": cfg.iterations}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
