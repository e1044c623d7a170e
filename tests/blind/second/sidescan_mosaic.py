# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Side-scan sonar survey of a fan-shaped estuary: slant-range correction, gain, overview mosaic, line-to-line matching."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
GB = 1e9


@dataclass
class Survey:
    legs: int = 6 if SMALL else 26
    first_leg: int = 192 if SMALL else 12_800
    widening: float = 0.08
    samples: int = 256 if SMALL else 2048
    ground_samples: int = 225 if SMALL else 1800
    altitude: float = 0.3
    overview: int = 5
    max_offset: int = 8 if SMALL else 40
    tape_pause: float = 0.0 if SMALL else 0.25
    seed: int = 23

    def pings(self, leg):
        return int(self.first_leg * (1 + self.widening) ** leg) // 16 * 16


class TapeReader:
    """Replays the recorder tapes leg by leg, from the river mouth outwards."""

    def __init__(self, survey):
        self.survey = survey
        gen = torch.Generator().manual_seed(survey.seed)
        rows = 128 if SMALL else 2048
        across = torch.linspace(1.0, 0.2, survey.samples)
        self.backscatter = torch.rand(rows, survey.samples, generator=gen).mul_(across)
        self.swell = torch.rand(rows, generator=gen)

    def __iter__(self):
        for leg in range(self.survey.legs):
            time.sleep(self.survey.tape_pause)
            order = (torch.arange(self.survey.pings(leg)) * 7 + leg) % len(self.swell)
            yield leg, self.backscatter.index_select(0, order), self.swell[order]


class SlantRange:
    """Maps equal slant-range samples to equal ground-range samples, dropping the water column."""

    def __init__(self, survey):
        ground = torch.linspace(0.0, math.sqrt(1 - survey.altitude ** 2), survey.ground_samples)
        slant = (ground ** 2 + survey.altitude ** 2).sqrt()
        self.column = (slant * (survey.samples - 1)).round().long().to(DEVICE)

    def __call__(self, swath):
        return swath.index_select(1, self.column)


@dataclass
class Leg:
    number: int
    overview: torch.Tensor
    mean_level: float
    swell: float


class Mosaic:
    def __init__(self, survey):
        self.survey = survey
        self.legs = []

    def add(self, leg, swath, swell):
        level = swath.mean().item()
        overview = F.avg_pool2d(swath[None], self.survey.overview)[0]
        self.legs.append(Leg(leg, overview, level, swell))

    def match_neighbours(self):
        """Along-track offset between neighbouring legs from their mean profiles."""
        offsets = []
        for left, right in zip(self.legs, self.legs[1:]):
            a, b = left.overview.mean(dim=1), right.overview.mean(dim=1)
            n = min(len(a), len(b)) - self.survey.max_offset
            a = a[:n] - a[:n].mean()
            score = torch.stack([(a * b[k:k + n]).mean() for k in range(self.survey.max_offset)])
            offsets.append(int(score.argmax()) * self.survey.overview)
        return offsets

    def coverage(self):
        return sum(leg.overview.numel() for leg in self.legs) * self.survey.overview ** 2

    def contrast(self):
        """One pass over the overview: percentile stretch for the chart."""
        low = min(leg.overview.amin().item() for leg in self.legs)
        high = max(leg.overview.amax().item() for leg in self.legs)
        return low, high


def equalise(swath):
    gain = swath.mean(dim=0)
    return swath.div_(gain.clamp_min_(1e-3))


def memory_line(tag):
    allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    print(f"{tag}: allocated {allocated / GB:.2f} GB, reserved {reserved / GB:.2f} GB", flush=True)
    return allocated, reserved


@torch.inference_mode()
def main():
    survey = Survey()
    correct, mosaic = SlantRange(survey), Mosaic(survey)
    allocated, reserved = [], []
    for leg, tape, swell in TapeReader(survey):
        swath = tape.to(DEVICE)
        swath = correct(swath)
        mosaic.add(leg, equalise(swath), swell.mean().item())
        del swath
        now = memory_line(f"leg {leg:02d} ({len(tape)} pings)")
        allocated.append(now[0])
        reserved.append(now[1])

    torch.cuda.empty_cache()
    now = memory_line("survey read")
    offsets = mosaic.match_neighbours()
    low, high = mosaic.contrast()
    print(json.dumps({"coverage_samples": mosaic.coverage(), "offsets": offsets[:8],
                      "stretch": [round(low, 3), round(high, 3)]}))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": survey.legs, "reserved": reserved + [now[1]]}),
          file=sys.stderr)


if __name__ == "__main__":
    main()
