# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Walk-forward backtest: a factor model is refitted every month on a rolling window and traded for the next month."""
import json
import logging
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("backtest")


@dataclass
class BacktestConfig:
    assets: int = 40 if SMALL else 3000
    features: int = 12 if SMALL else 256
    factors: int = 4
    month: int = 21
    lookback: int = 84 if SMALL else 756
    months: int = 9 if SMALL else 66
    hidden: int = 32 if SMALL else 1024
    fit_steps: int = 3 if SMALL else 12
    days_per_step: int = 8 if SMALL else 32
    lr: float = 1e-3
    jitters: tuple = (0.0, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1)
    data_pause: float = 0.0 if SMALL else 0.09
    seed: int = 14


class MarketFeed:
    """One month of standardized features and next-day returns at a time."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        self.loadings = self.normal(cfg.assets, cfg.factors)
        self.signal = 0.05 * self.normal(cfg.features)

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.gen, device=DEVICE)

    def next_month(self):
        cfg = self.cfg
        time.sleep(cfg.data_pause)
        features = self.normal(cfg.month, cfg.assets, cfg.features).half()
        market = 0.01 * self.normal(cfg.month, cfg.factors) @ self.loadings.T
        returns = market + 0.002 * (features.float() @ self.signal) + 0.01 * self.normal(cfg.month, cfg.assets)
        return features, returns


class RollingHistory:
    def __init__(self, lookback):
        self.lookback = lookback
        self.features = None
        self.returns = None

    def extend(self, features, returns):
        if self.features is not None:
            features = torch.cat([self.features, features])
            returns = torch.cat([self.returns, returns])
        self.features = features[-self.lookback:].clone()
        self.returns = returns[-self.lookback:].clone()

    def __len__(self):
        return 0 if self.returns is None else len(self.returns)


class ReturnModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.features, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, cfg.hidden),
                                 nn.GELU(), nn.Linear(cfg.hidden, 1))

    def forward(self, features):
        return self.net(features.float()).squeeze(-1)


def fit(history, cfg, previous=None):
    model = ReturnModel(cfg).to(DEVICE)
    if previous is not None:
        model.load_state_dict(previous.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for _ in range(cfg.fit_steps):
        days = torch.randint(0, len(history), (min(cfg.days_per_step, len(history)),), device=DEVICE)
        loss = (model(history.features[days]) - 100 * history.returns[days]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def information_coefficient(model, features, returns):
    with torch.no_grad():
        forecast = model(features)
    x, y = forecast - forecast.mean(dim=1, keepdim=True), returns - returns.mean(dim=1, keepdim=True)
    return ((x * y).sum(dim=1) / (x.norm(dim=1) * y.norm(dim=1)).clamp(min=1e-9)).mean().item()


class PortfolioBuilder:
    """Minimum variance weights tilted by the forecast; the sample covariance is repaired when it is singular."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.repairs = []

    def factorize(self, covariance):
        scale = covariance.diagonal().mean()
        for jitter in self.cfg.jitters:
            try:
                candidate = covariance.clone()
                candidate.diagonal().add_(jitter * scale)
                return torch.linalg.cholesky(candidate), jitter
            except torch.linalg.LinAlgError as problem:
                self.repairs.append(str(problem).splitlines()[0])
        raise RuntimeError("covariance cannot be repaired")

    @torch.no_grad()
    def weights(self, history, forecast):
        covariance = torch.cov(history.returns.T)
        lower, jitter = self.factorize(covariance)
        ones = torch.ones_like(forecast)
        solution = torch.cholesky_solve(torch.stack([ones, forecast], dim=1), lower)
        blend = solution[:, 0] / solution[:, 0].abs().sum() + 0.5 * solution[:, 1] / solution[:, 1].abs().sum()
        return blend / blend.abs().sum(), jitter


def main():
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    cfg = BacktestConfig()
    torch.manual_seed(cfg.seed)
    feed, history, builder = MarketFeed(cfg), RollingHistory(cfg.lookback), PortfolioBuilder(cfg)
    champion, weights, swaps, performance, allocated = None, None, 0, [], []

    for month in range(cfg.months):
        features, returns = feed.next_month()
        if weights is not None:
            performance.append((returns @ weights).sum().item())
        if champion is not None:
            score = information_coefficient(champion, features, returns)
        history.extend(features, returns)
        challenger = fit(history, cfg, champion)
        if champion is None or information_coefficient(challenger, features, returns) > score:
            champion, swaps = challenger, swaps + 1
        with torch.no_grad():
            forecast = champion(features[-1:])[0]
        weights, jitter = builder.weights(history, forecast)
        if month % 6 == 5 or SMALL:
            log.info("month %3d  days %4d  jitter %.0e  swaps %3d  p&l %8.4f", month + 1, len(history), jitter, swaps,
                     sum(performance))
        allocated.append(torch.cuda.memory_allocated())

    log.info("%d repairs, first: %s", len(builder.repairs), builder.repairs[0] if builder.repairs else "none")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.months}), file=sys.stderr)


if __name__ == "__main__":
    main()
