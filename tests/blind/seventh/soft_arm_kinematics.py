# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Learns the forward kinematics of a pneumatic soft arm and how its dexterity changes over the work space.

The network maps chamber pressures to marker positions along the arm. Training matches positions and, on a few poses of
each batch, the measured stiffness directions (Jacobian). Every few epochs the manipulability is mapped over the test poses.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, jacrev, jvp, vmap

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
QUOTA_GIB = 7.0  # share of one user on the lab's machine


@dataclass
class Config:
    chambers: int = 6 if SMALL else 48
    markers: int = 5 if SMALL else 120
    width: int = 32 if SMALL else 512
    poses: int = 200 if SMALL else 80_000
    test_share: float = 0.25
    batch: int = 16 if SMALL else 512
    jacobian_poses: int = 4 if SMALL else 32
    epochs: int = 4 if SMALL else 40
    steps_per_epoch: int = 10 if SMALL else 150
    map_every: int = 2 if SMALL else 8
    jacobian_weight: float = 0.1
    lr: float = 1e-3


class Recorder:
    def __init__(self, rounds: int):
        self.stride = max(1, -(-rounds // 200))
        self.rounds = 0
        self.allocated = []

    def mark(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.rounds}), file=sys.stderr)


class Arm:
    """Piecewise constant curvature stand-in for the motion capture."""

    def __init__(self, cfg: Config):
        g = torch.Generator().manual_seed(17)
        self.bend = (torch.randn(cfg.chambers, cfg.markers, 3, generator=g) / cfg.chambers ** 0.5).to(DEVICE)
        self.along = torch.linspace(0, 1, cfg.markers, device=DEVICE).view(-1, 1)

    def markers(self, pressure: torch.Tensor) -> torch.Tensor:
        curvature = torch.einsum("...c,cmk->...mk", pressure, self.bend) * self.along
        return (torch.sin(curvature) + 0.1 * curvature).flatten(-2)


class Kinematics(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.width
        self.net = nn.Sequential(nn.Linear(cfg.chambers, w), nn.Tanh(), nn.Linear(w, w), nn.Tanh(), nn.Linear(w, w), nn.Tanh(),
                                 nn.Linear(w, 3 * cfg.markers))

    def forward(self, pressure):
        return self.net(pressure)


class Identification:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.arm = Arm(cfg)
        pressure = torch.rand(cfg.poses, cfg.chambers, device=DEVICE) * 2 - 1
        held = int(cfg.poses * cfg.test_share)
        self.test, self.train = pressure[:held], pressure[held:]
        self.model = Kinematics(cfg).to(DEVICE)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def directional_error(self, pressure):
        """Compares the response to a random pressure direction with the measured one."""
        direction = F.normalize(torch.randn_like(pressure), dim=1)
        _, measured = jvp(self.arm.markers, (pressure,), (direction,))
        weights = dict(self.model.named_parameters())
        jacobian = vmap(jacrev(lambda p: functional_call(self.model, weights, (p,))))(pressure)
        return F.mse_loss(torch.einsum("bij,bj->bi", jacobian, direction), measured)

    def step(self):
        c = self.cfg
        pressure = self.train[torch.randint(0, len(self.train), (c.batch,), device=DEVICE)]
        position = F.mse_loss(self.model(pressure), self.arm.markers(pressure))
        loss = position + c.jacobian_weight * self.directional_error(pressure[: c.jacobian_poses])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def position_error(self) -> float:
        return F.mse_loss(self.model(self.test), self.arm.markers(self.test)).sqrt().item()

    @torch.no_grad()
    def manipulability(self):
        """Yoshikawa's measure sqrt(det(J J^T)) of the tip for all test poses."""
        weights = {k: v.detach() for k, v in self.model.named_parameters()}
        jacobian = vmap(jacrev(lambda p: functional_call(self.model, weights, (p,))))(self.test)
        tip = jacobian[:, -3:]
        return torch.linalg.det(tip @ tip.mT).clamp(min=0).sqrt()


def main():
    torch.manual_seed(13)
    if DEVICE.type == "cuda":
        card = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(QUOTA_GIB * 2 ** 30 / card)
    cfg = Config()
    identification = Identification(cfg)
    recorder = Recorder(cfg.epochs * cfg.steps_per_epoch)
    started = time.time()
    try:
        for epoch in range(1, cfg.epochs + 1):
            total = torch.zeros((), device=DEVICE)
            for _ in range(cfg.steps_per_epoch):
                total += identification.step()
                recorder.mark()
            print(f"epoch {epoch:2d}  loss {total.item() / cfg.steps_per_epoch:.5f}  test position error "
                  f"{identification.position_error():.4f}  {time.time() - started:.1f} s", flush=True)
            if epoch % cfg.map_every == 0:
                w = identification.manipulability()
                print(f"epoch {epoch:2d}  manipulability median {w.median().item():.4f}  "
                      f"worst tenth {w.quantile(0.1).item():.4f}", flush=True)
    finally:
        recorder.close()


if __name__ == "__main__":
    main()
