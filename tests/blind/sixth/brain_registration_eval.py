# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a diffeomorphic registration network on pairs of brain volumes.

For each pair the network predicts a stationary velocity field at half resolution. The field is integrated in both
directions by scaling and squaring; image and label map of the moving brain are carried onto the fixed one and the other
way round. Reported are the Dice overlap of the structures in both directions and the share of voxels at which the
deformation folds.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class EvalConfig:
    volume: tuple = (16, 16, 24) if SMALL else (160, 192, 224)
    channels: int = 4 if SMALL else 16
    squaring_steps: int = 7
    structures: int = 5 if SMALL else 30
    pairs: int = 3 if SMALL else 24
    archive_delay_s: float = 0.01 if SMALL else 0.25
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Pair:
    moving: torch.Tensor
    fixed: torch.Tensor
    moving_labels: torch.Tensor
    fixed_labels: torch.Tensor


class PairArchive:
    """Pairs of volumes with their label maps, as the image archive would deliver them."""

    def __init__(self, cfg: EvalConfig):
        self.cfg = cfg

    def _subject(self, generator):
        coarse = tuple(max(4, size // 16) for size in self.cfg.volume)
        noise = torch.randn(1, 1, *coarse, generator=generator)
        image = F.interpolate(noise, size=self.cfg.volume, mode="trilinear", align_corners=True)
        image = (image - image.min()) / (image.max() - image.min())
        return image, (image * (self.cfg.structures - 1)).round()

    def __iter__(self):
        for number in range(self.cfg.pairs):
            time.sleep(self.cfg.archive_delay_s)
            generator = torch.Generator().manual_seed(number)
            (moving, moving_labels), (fixed, fixed_labels) = self._subject(generator), self._subject(generator)
            yield Pair(*(volume.to(self.cfg.device) for volume in (moving, fixed, moving_labels, fixed_labels)))


class SpatialTransformer(nn.Module):
    """Carries a volume along a displacement field that is given in voxels."""

    def __init__(self, size, mode="bilinear"):
        super().__init__()
        self.size = size
        self.mode = mode
        axes = [torch.arange(0, extent, dtype=torch.float32) for extent in size]
        grid = torch.stack(torch.meshgrid(*axes, indexing="ij")).unsqueeze(0)
        self.register_buffer("grid", grid, persistent=False)

    def forward(self, volume, displacement):
        place = self.grid + displacement
        for axis, extent in enumerate(self.size):
            place[:, axis].mul_(2 / (extent - 1)).sub_(1)
        place = place.permute(0, 2, 3, 4, 1)[..., [2, 1, 0]]
        return F.grid_sample(volume, place, mode=self.mode, align_corners=True, padding_mode="border")


class VelocityIntegrator(nn.Module):
    """Displacement field of a stationary velocity field by scaling and squaring."""

    def __init__(self, size, steps):
        super().__init__()
        self.scale = 1.0 / 2**steps
        self.squarings = nn.ModuleList(SpatialTransformer(size) for _ in range(steps))

    def forward(self, velocity):
        field = velocity * self.scale
        for squaring in self.squarings:
            field = field + squaring(field, field)
        return field


class VelocityNet(nn.Module):
    """Small U-Net at half resolution."""

    def __init__(self, channels):
        super().__init__()
        self.down = nn.ModuleList([
            nn.Conv3d(2, channels, 3, stride=2, padding=1),
            nn.Conv3d(channels, 2 * channels, 3, stride=2, padding=1),
            nn.Conv3d(2 * channels, 2 * channels, 3, stride=2, padding=1),
        ])
        self.up = nn.ModuleList([
            nn.Conv3d(4 * channels, 2 * channels, 3, padding=1), nn.Conv3d(3 * channels, channels, 3, padding=1)
        ])
        self.velocity = nn.Conv3d(channels, 3, 3, padding=1)

    def forward(self, x):
        skips = []
        for conv in self.down:
            x = F.leaky_relu(conv(x), 0.2)
            skips.append(x)
        skips.pop()
        for conv in self.up:
            skip = skips.pop()
            x = F.interpolate(x, size=skip.shape[2:], mode="nearest")
            x = F.leaky_relu(conv(torch.cat([x, skip], dim=1)), 0.2)
        return self.velocity(x)


class RegistrationNet(nn.Module):
    def __init__(self, cfg: EvalConfig):
        super().__init__()
        self.size = cfg.volume
        self.net = VelocityNet(cfg.channels)
        self.integrate = nn.ModuleDict({
            way: VelocityIntegrator(cfg.volume, cfg.squaring_steps) for way in ("forward_way", "backward_way")
        })
        self.carry_image = nn.ModuleDict({way: SpatialTransformer(cfg.volume) for way in self.integrate})
        self.carry_labels = nn.ModuleDict({way: SpatialTransformer(cfg.volume, "nearest") for way in self.integrate})

    def forward(self, pair: Pair):
        velocity = self.net(torch.cat([pair.moving, pair.fixed], dim=1))
        velocity = F.interpolate(velocity, size=self.size, mode="trilinear", align_corners=True)
        found = {}
        for way, sign, image, labels in (
            ("forward_way", 1.0, pair.moving, pair.moving_labels), ("backward_way", -1.0, pair.fixed, pair.fixed_labels)
        ):
            field = self.integrate[way](sign * velocity)
            found[way] = (self.carry_image[way](image, field), self.carry_labels[way](labels, field), folding(field))
        return found


def folding(field):
    """Share of the voxels at which the diagonal of the Jacobian is not positive."""
    bad = [(field[:, axis].diff(dim=axis + 1) <= -1).float().mean() for axis in range(3)]
    return torch.stack(bad).max().item()


def dice(carried, target, structures):
    carried, target = carried.flatten().long(), target.flatten().long()
    both = torch.bincount(target[carried == target], minlength=structures).float()
    total = torch.bincount(carried, minlength=structures) + torch.bincount(target, minlength=structures)
    return (2 * both / total.clamp(min=1)).mean().item()


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


@torch.inference_mode()
def evaluate(cfg: EvalConfig, sizes):
    model = RegistrationNet(cfg).to(cfg.device).eval()
    for number, pair in enumerate(PairArchive(cfg)):
        found = model(pair)
        (image, labels, folds), (back_image, back_labels, back_folds) = found["forward_way"], found["backward_way"]
        error = F.mse_loss(image, pair.fixed).item() + F.mse_loss(back_image, pair.moving).item()
        scores = [dice(labels, pair.fixed_labels, cfg.structures)]
        scores.append(dice(back_labels, pair.moving_labels, cfg.structures))
        del found, image, labels, back_image, back_labels, pair
        sizes.append(allocated())
        print(f"pair {number}: mse {error:.4f} dice {scores[0]:.3f}/{scores[1]:.3f} "
              f"folding {max(folds, back_folds):.5f}", flush=True)


def main():
    torch.manual_seed(0)
    sizes = []
    try:
        evaluate(EvalConfig(), sizes)
    finally:
        print("TRUTH", json.dumps({"allocated": sizes, "rounds": len(sizes)}), file=sys.stderr)


if __name__ == "__main__":
    main()
