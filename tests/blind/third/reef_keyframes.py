# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Pick the most informative frames of a reef survey: one candidate per transect clip, the best few are kept."""
import heapq
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torchvision.models import resnet18
from torchvision.transforms import v2

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class ReefConfig:
    clips: int = 14 if SMALL else 90
    frames: int = 10 if SMALL else 128
    height: int = 32 if SMALL else 270
    width: int = 64 if SMALL else 480
    keep: int = 5 if SMALL else 30
    probe_every: int = 2 if SMALL else 8
    probe_size: int = 32 if SMALL else 128
    novelty_weight: float = 0.7
    download_seconds: float = 0.0 if SMALL else 0.12
    seed: int = 31


class TransectArchive:
    """Diver transects, decoded to RGB clips on the device."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)

    def decode(self, number):
        cfg = self.cfg
        time.sleep(cfg.download_seconds)
        patch = torch.rand(1, 3, 8, 12, generator=self.gen, device=DEVICE)
        reef = F.interpolate(patch, size=(cfg.height, cfg.width), mode="bicubic").clamp(0, 1)
        murk = 0.15 + 0.1 * (number % 7)
        clip = torch.rand(cfg.frames, 3, cfg.height, cfg.width, generator=self.gen, device=DEVICE)
        return clip.mul_(murk).add_(reef * (1 - murk))

    def __iter__(self):
        for number in range(self.cfg.clips):
            yield number, self.decode(number)


class FrameScorer:
    """Sharpness of a frame, plus the distance of its embedding from the running mean."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.encoder = resnet18(weights=None).to(DEVICE).eval()
        self.encoder.fc = torch.nn.Identity()
        self.prepare = v2.Compose([v2.Resize((cfg.probe_size, cfg.probe_size), antialias=True),
                                   v2.Normalize(mean=[0.45] * 3, std=[0.25] * 3)])
        self.mean = torch.zeros(512, device=DEVICE)
        self.seen = 0

    def sharpness(self, frames):
        grey = frames.mean(1)
        dx = grey[:, :, 1:] - grey[:, :, :-1]
        dy = grey[:, 1:] - grey[:, :-1]
        return dx.abs().mean((1, 2)) + dy.abs().mean((1, 2))

    def __call__(self, clip):
        probes = clip[::self.cfg.probe_every]
        features = F.normalize(self.encoder(self.prepare(probes)), dim=1)
        novelty = (features - self.mean).norm(dim=1)
        score = (1 - self.cfg.novelty_weight) * self.sharpness(probes) + self.cfg.novelty_weight * novelty
        self.seen += 1
        self.mean += (features.mean(0) - self.mean) / self.seen
        best = int(score.argmax())
        return float(score[best]), best * self.cfg.probe_every


class Gallery:
    """The highest scoring frames seen so far."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.heap = []

    def offer(self, score, number, frame):
        if len(self.heap) < self.capacity:
            heapq.heappush(self.heap, (score, number, frame))
            return True
        if score > self.heap[0][0]:
            heapq.heapreplace(self.heap, (score, number, frame))
            return True
        return False

    def contact_sheet(self, columns=6):
        ranked = sorted(self.heap, key=lambda entry: -entry[0])
        thumbs = torch.stack([frame for _, _, frame in ranked])
        thumbs = F.interpolate(thumbs, scale_factor=0.25, mode="area")
        rows = [torch.cat(list(thumbs[i:i + columns]), dim=-1) for i in range(0, len(thumbs) - columns + 1, columns)]
        return torch.cat(rows, dim=-2) if rows else thumbs[0]


@torch.inference_mode()
def survey(cfg):
    torch.manual_seed(cfg.seed)
    scorer, gallery, allocated = FrameScorer(cfg), Gallery(cfg.keep), []
    for number, clip in TransectArchive(cfg):
        score, index = scorer(clip)
        taken = gallery.offer(score, number, clip[index])
        if number % 10 == 0:
            print(f"transect {number:3d}: frame {index:3d} score {score:.4f} {'kept' if taken else 'passed'}")
        del clip
        allocated.append(torch.cuda.memory_allocated())

    sheet = gallery.contact_sheet(columns=5 if SMALL else 6)
    print(f"contact sheet {tuple(sheet.shape)}, best transect {max(gallery.heap)[1]}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.clips}), file=sys.stderr)


if __name__ == "__main__":
    survey(ReefConfig())
