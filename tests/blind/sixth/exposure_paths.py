# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Estimate the expected exposure of trading books by Monte Carlo simulation of their risk factors.

Each desk book is simulated with a common number of paths; then the firm-wide book, which depends on many more factors,
is simulated with as many paths as the device allows: the path count is halved until the simulation fits. The process
runs with a fixed share of the device memory, because other risk services use the same device.
"""

import gc
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field

import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ExposureConfig:
    memory_gib: float = 6.0
    desks: int = 14
    desk_factors: int = 4
    desk_paths: int = 2 ** 18
    firm_factors: int = 24
    firm_paths: int = 2 ** 20
    min_paths: int = 2 ** 17
    grid: int = 256
    horizon_years: float = 5.0
    trades_per_factor: int = 3
    quote_latency: float = 0.5

    @classmethod
    def from_env(cls):
        if os.environ.get("SMALL") == "1":
            return cls(desks=4, desk_paths=2 ** 8, firm_factors=24, firm_paths=2 ** 10, min_paths=2 ** 7, grid=16,
                       quote_latency=0.0)
        return cls()


@dataclass
class RiskFactor:
    name: str
    spot: float
    drift: float
    volatility: float


@dataclass
class Forward:
    factor: str
    strike: float
    notional: float


@dataclass
class Book:
    name: str
    factors: list[RiskFactor]
    trades: list[Forward] = field(default_factory=list)


@dataclass
class ExposureProfile:
    book: str
    paths: int
    expected: list[float]
    peak: float


class BookFactory:
    def __init__(self, cfg: ExposureConfig):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(17)

    def uniform(self, low, high):
        return low + (high - low) * torch.rand(1, generator=self.generator).item()

    def build(self, name, count):
        book = Book(name, [])
        for index in range(count):
            factor = RiskFactor(f"{name}/f{index}", self.uniform(20, 180), self.uniform(-0.02, 0.06),
                                self.uniform(0.1, 0.4))
            book.factors.append(factor)
            for _ in range(self.cfg.trades_per_factor):
                strike = factor.spot * self.uniform(0.8, 1.2)
                book.trades.append(Forward(factor.name, strike, self.uniform(-1, 1)))
        return book


class ScenarioGenerator:
    def __init__(self, cfg: ExposureConfig):
        self.cfg = cfg
        self.step = cfg.horizon_years / cfg.grid

    def paths(self, factor, count):
        move = torch.randn(count, self.cfg.grid, device=DEVICE)
        move.mul_(factor.volatility * math.sqrt(self.step))
        move.add_((factor.drift - 0.5 * factor.volatility ** 2) * self.step)
        move.cumsum_(dim=1)
        return move.exp_().mul_(factor.spot)


class ExposureEngine:
    def __init__(self, cfg: ExposureConfig):
        self.cfg = cfg
        self.scenarios = ScenarioGenerator(cfg)

    def simulate(self, book, count):
        market = {}
        for factor in book.factors:
            market[factor.name] = self.scenarios.paths(factor, count)
        expected, quantiles = [], []
        for column in range(self.cfg.grid):
            value = torch.zeros(count, device=DEVICE)
            for trade in book.trades:
                value.add_(market[trade.factor][:, column] - trade.strike, alpha=trade.notional)
            exposure = value.clamp_min_(0.0)
            expected.append(exposure.mean())
            quantiles.append(exposure.topk(max(1, count // 40)).values[-1])
        return ExposureProfile(book.name, count, torch.stack(expected).tolist(), torch.stack(quantiles).max().item())

    def simulate_fitting(self, book, count):
        failures = []
        while count >= self.cfg.min_paths:
            try:
                return self.simulate(book, count)
            except torch.OutOfMemoryError as error:
                print(f"{book.name}: {count} paths do not fit")
                failures.append(error)
            count //= 2
            gc.collect()
            if DEVICE.type == "cuda":
                torch.cuda.empty_cache()
        raise ExceptionGroup(f"{book.name} cannot be simulated with {self.cfg.min_paths} paths", failures)


def limit_memory(cfg: ExposureConfig):
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.memory_gib * 2 ** 30 / total)


def main():
    torch.manual_seed(4)
    cfg = ExposureConfig.from_env()
    limit_memory(cfg)
    factory = BookFactory(cfg)
    engine = ExposureEngine(cfg)
    books = [(factory.build(f"desk{n}", cfg.desk_factors), cfg.desk_paths) for n in range(cfg.desks)]
    books.append((factory.build("firm", cfg.firm_factors), cfg.firm_paths))
    allocated = []
    try:
        for book, paths in books:
            time.sleep(cfg.quote_latency)
            profile = engine.simulate_fitting(book, paths)
            print(f"{profile.book}: {profile.paths} paths  final {profile.expected[-1]:.2f}  peak {profile.peak:.2f}")
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
