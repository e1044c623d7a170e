# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Overnight risk run of an option book: value, delta, vega and gamma in every market scenario."""
import csv
import io
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RiskConfig:
    positions: int = 4096 if SMALL else 1 << 20
    scenarios: int = 8 if SMALL else 60
    underlyings: int = 16 if SMALL else 400
    rate: float = 0.034
    dividend: float = 0.012
    shock_std: float = 0.04
    vol_shock_std: float = 0.10
    snapshot_latency: float = 0.14
    top: int = 3
    seed: int = 77


class OptionBook:
    """European calls and puts, flattened into one vector per attribute."""

    def __init__(self, cfg):
        gen = torch.Generator().manual_seed(cfg.seed)

        def uniform(low, high):
            return (low + (high - low) * torch.rand(cfg.positions, generator=gen, dtype=torch.float64)).to(DEVICE)

        self.underlying = torch.randint(cfg.underlyings, (cfg.positions,), generator=gen).to(DEVICE)
        self.strike = uniform(60.0, 140.0)
        self.expiry = uniform(0.05, 2.0)
        self.sign = torch.where(uniform(0, 1) > 0.45, 1.0, -1.0).to(torch.float64)
        self.quantity = (uniform(-50, 50)).round()


class MarketSnapshots:
    """Correlated spot and volatility shocks around the closing marks."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed + 1)
        self.close = 80 + 40 * torch.rand(cfg.underlyings, generator=self.gen, dtype=torch.float64)
        self.vol = 0.15 + 0.25 * torch.rand(cfg.underlyings, generator=self.gen, dtype=torch.float64)

    def __iter__(self):
        cfg = self.cfg
        for number in range(cfg.scenarios):
            time.sleep(cfg.snapshot_latency)
            market = torch.randn(1, generator=self.gen, dtype=torch.float64)
            own = torch.randn(cfg.underlyings, generator=self.gen, dtype=torch.float64)
            shock = cfg.shock_std * (0.6 * market + 0.8 * own)
            vol_shock = cfg.vol_shock_std * (-0.5 * market + 0.4 * own)
            yield number, (self.close * shock.exp()).to(DEVICE), (self.vol * vol_shock.exp()).to(DEVICE)


def normal_cdf(x):
    return 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def black_scholes(spot, vol, book, cfg):
    root = vol * book.expiry.sqrt()
    carry = cfg.rate - cfg.dividend
    d1 = ((spot / book.strike).log() + (carry + 0.5 * vol.square()) * book.expiry) / root
    d2 = d1 - root
    forward_leg = spot * torch.exp(-cfg.dividend * book.expiry) * normal_cdf(book.sign * d1)
    strike_leg = book.strike * torch.exp(-cfg.rate * book.expiry) * normal_cdf(book.sign * d2)
    return book.sign * (forward_leg - strike_leg)


class RiskEngine:
    def __init__(self, book, cfg):
        self.book = book
        self.cfg = cfg

    def evaluate(self, spots, vols):
        book = self.book
        spot = spots[book.underlying].requires_grad_(True)
        vol = vols[book.underlying].requires_grad_(True)
        value = book.quantity * black_scholes(spot, vol, book, self.cfg)
        value.sum().backward(create_graph=True)
        delta, vega = spot.grad, vol.grad
        gamma, = torch.autograd.grad(delta.sum(), spot)
        return {"value": value.detach(), "delta": delta.detach(), "vega": vega.detach(), "gamma": gamma}

    def by_underlying(self, greeks):
        table = {}
        for name, per_position in greeks.items():
            total = torch.zeros(self.cfg.underlyings, dtype=torch.float64, device=DEVICE)
            table[name] = total.index_add_(0, self.book.underlying, per_position).cpu()
        return table


class RiskReport:
    """Writes one line per scenario and remembers the worst outcomes."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.buffer = io.StringIO()
        self.writer = csv.writer(self.buffer)
        self.writer.writerow(["scenario", "value", "delta", "vega", "gamma", "largest"])
        self.losses = []
        self.base = None

    def add(self, number, table):
        total = {name: column.sum().item() for name, column in table.items()}
        largest = int(table["gamma"].abs().argmax())
        if self.base is None:
            self.base = total["value"]
        self.losses.append((total["value"] - self.base, number))
        self.writer.writerow([number] + [f"{total[k]:.4g}" for k in ("value", "delta", "vega", "gamma")] + [largest])

    def expected_shortfall(self, level=0.1):
        tail = sorted(self.losses)[:max(1, int(level * len(self.losses)))]
        return sum(loss for loss, _ in tail) / len(tail)

    def close(self):
        print(self.buffer.getvalue().strip())
        for loss, number in sorted(self.losses)[:self.cfg.top]:
            print(f"worst scenario {number:3d}: {loss:14.2f}")
        print(f"expected shortfall {self.expected_shortfall():.2f}")


def main():
    cfg = RiskConfig()
    book = OptionBook(cfg)
    engine, report = RiskEngine(book, cfg), RiskReport(cfg)
    allocated = []
    for number, spots, vols in MarketSnapshots(cfg):
        greeks = engine.evaluate(spots, vols)
        report.add(number, engine.by_underlying(greeks))
        del greeks
        allocated.append(torch.cuda.memory_allocated())
    report.close()
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.scenarios}), file=sys.stderr)


if __name__ == "__main__":
    main()
