# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Quality-diversity search (MAP-Elites) for a repertoire of gaits of a six-legged robot.

The archive has one place for each pair of forward speed and turning rate. A place keeps the steadiest gait found for it, so
that the robot can later pick another one when a leg is damaged.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    bins: int = 5 if SMALL else 22
    joints: int = 18
    sensors: int = 12 if SMALL else 48
    hidden: int = 16 if SMALL else 2048
    offspring: int = 16 if SMALL else 24
    generations: int = 80 if SMALL else 1200
    ticks: int = 6 if SMALL else 70
    sigma: float = 0.35
    fresh_share: float = 0.25
    report_every: int = 20 if SMALL else 100


class Trace:
    def __init__(self, generations: int):
        self.stride = max(1, -(-generations // 200))
        self.generation = 0
        self.allocated = []

    def mark(self):
        self.generation += 1
        if DEVICE.type == "cuda" and self.generation % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.generation}), file=sys.stderr)


@dataclass
class Elite:
    genome: torch.Tensor
    steadiness: float
    born: int


class Repertoire:
    """Cell -> best gait. The number of cells is fixed by the descriptor's grid."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.elites: dict[tuple[int, int], Elite] = {}
        self.replaced = 0

    def offer(self, genomes, steadiness, descriptors, generation: int):
        places = (descriptors * self.cfg.bins).long().clamp(0, self.cfg.bins - 1).tolist()
        for genome, value, place in zip(genomes, steadiness.tolist(), places):
            place = tuple(place)
            present = self.elites.get(place)
            if present is None or value > present.steadiness:
                self.replaced += present is not None
                self.elites[place] = Elite(genome.clone(), value, generation)

    def parents(self, n: int) -> torch.Tensor:
        elites = list(self.elites.values())
        picks = torch.randint(0, len(elites), (n,)).tolist()
        return torch.stack([elites[i].genome for i in picks])

    @property
    def coverage(self) -> float:
        return len(self.elites) / self.cfg.bins ** 2

    @property
    def mean(self) -> float:
        return sum(e.steadiness for e in self.elites.values()) / max(1, len(self.elites))


class Hexapod:
    """Batched kinematic surrogate: every gait has its own two-layer controller of joint velocities."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.shapes = [(cfg.sensors, cfg.hidden), (cfg.hidden, cfg.joints)]
        self.length = sum(a * b for a, b in self.shapes)
        g = torch.Generator().manual_seed(31)
        self.sense = torch.randn(cfg.joints, cfg.sensors, generator=g).to(DEVICE) / cfg.joints ** 0.5
        self.axes = torch.randn(self.length, 2, generator=g).to(DEVICE) / self.length ** 0.5
        self.legs = torch.randn(cfg.joints, 3, generator=g).to(DEVICE)

    def walk(self, genomes: torch.Tensor):
        """Simulates the gaits; returns their steadiness and their (speed, turn) descriptor in the unit square."""
        c = self.cfg
        cut = self.shapes[0][0] * self.shapes[0][1]
        first = genomes[:, :cut].view(-1, *self.shapes[0]) / c.sensors ** 0.5
        second = genomes[:, cut:].view(-1, *self.shapes[1]) / c.hidden ** 0.5
        joints = torch.zeros(len(genomes), 1, c.joints, device=DEVICE)
        wobble = torch.zeros(len(genomes), device=DEVICE)
        for tick in range(c.ticks):
            clock = torch.sin(torch.arange(c.sensors, device=DEVICE) * 0.7 + 0.4 * tick)
            sensed = torch.tanh(joints @ self.sense + clock)
            velocity = torch.tanh(torch.tanh(sensed @ first) @ second)
            joints = 0.9 * joints + 0.2 * velocity
            body = (joints @ self.legs).squeeze(1)
            wobble += body.square().sum(1)
        descriptor = torch.special.ndtr(genomes @ self.axes)
        return -wobble / c.ticks, descriptor


class Search:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.robot = Hexapod(cfg)
        self.repertoire = Repertoire(cfg)

    def breed(self) -> torch.Tensor:
        """Mutants of elites that keep the scale of the genome, and a share of newcomers."""
        c = self.cfg
        fresh = c.offspring if not self.repertoire.elites else int(c.fresh_share * c.offspring)
        newcomers = torch.randn(fresh, self.robot.length, device=DEVICE)
        if fresh == c.offspring:
            return newcomers
        parents = self.repertoire.parents(c.offspring - fresh)
        mutants = (1 - c.sigma ** 2) ** 0.5 * parents + c.sigma * torch.randn_like(parents)
        return torch.cat([mutants, newcomers])

    @torch.no_grad()
    def generation(self, number: int):
        genomes = self.breed()
        steadiness, descriptors = self.robot.walk(genomes)
        self.repertoire.offer(genomes, steadiness, descriptors, number)


def main():
    torch.manual_seed(23)
    cfg = Config()
    search = Search(cfg)
    trace = Trace(cfg.generations)
    print(f"{search.robot.length:,} numbers per gait, {cfg.bins ** 2} cells")
    started = time.time()
    for number in range(1, cfg.generations + 1):
        search.generation(number)
        trace.mark()
        if number % cfg.report_every == 0:
            r = search.repertoire
            print(f"generation {number:3d}  coverage {r.coverage:.2f}  steadiness {r.mean:.3f}  replaced {r.replaced}  "
                  f"{time.time() - started:.1f} s")
    trace.close()


if __name__ == "__main__":
    main()
