# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Active learning of a response surface: pick the query batch with the lowest integrated posterior variance."""
import json
import math
import os
import tempfile
import time
import warnings

import gpytorch
import torch
from botorch.acquisition.active_learning import qNegIntegratedPosteriorVariance
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.sampling.normal import SobolQMCNormalSampler

warnings.filterwarnings("ignore")
DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"

CFG = {
    "dim": 6,
    "n_init": 80 if TINY else 256,
    "n_mc": 64 if TINY else 320,
    "q": 4,
    "n_candidates": 4 if TINY else 16,
    "proposals_per_round": 6,
    "rounds": 12,
    "fit_steps": 4 if TINY else 20,
    "seed": 5,
    "max_seconds": 17.0,
}


def simulator(x):
    """The expensive thing: damped oscillation over a 6-d design space."""
    r = (x - 0.4).pow(2).sum(-1).sqrt()
    y = torch.cos(3 * math.pi * r) * torch.exp(-r) + 0.05 * torch.randn(r.shape, dtype=x.dtype, device=x.device)
    return y.unsqueeze(-1)


def fit(model, steps):
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    model.train()
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    value = float("nan")
    for _ in range(steps):
        opt.zero_grad()
        out = model(*model.train_inputs)
        loss = -mll(out, model.train_targets)
        loss.backward()
        opt.step()
        value = loss.item()
    model.eval()
    return value


class ActiveLearner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.tkwargs = {"dtype": torch.double, "device": DEVICE}
        self.X = torch.rand(cfg["n_init"], cfg["dim"], **self.tkwargs)
        self.Y = simulator(self.X)
        self.mc_points = torch.rand(cfg["n_mc"], cfg["dim"], **self.tkwargs)
        self.history = []
        self.calls = 0

    def build_model(self):
        model = SingleTaskGP(self.X, self.Y, input_transform=Normalize(self.cfg["dim"]),
                             outcome_transform=Standardize(1))
        nll = fit(model, self.cfg["fit_steps"])
        return model, nll

    def propose(self, model):
        cfg = self.cfg
        acqf = qNegIntegratedPosteriorVariance(
            model=model, mc_points=self.mc_points, sampler=SobolQMCNormalSampler(torch.Size([1])))
        best_value, best_x = -float("inf"), None
        for _ in range(cfg["proposals_per_round"]):
            cand = torch.rand(cfg["n_candidates"], cfg["q"], cfg["dim"], **self.tkwargs)
            values = acqf(cand)
            self.calls += 1
            top = int(values.argmax())
            if values[top].item() > best_value:
                best_value, best_x = values[top].item(), cand[top]
        return best_x, best_value

    def run_round(self, index):
        model, nll = self.build_model()
        x_new, value = self.propose(model)
        y_new = simulator(x_new)
        self.X = torch.cat([self.X, x_new])
        self.Y = torch.cat([self.Y, y_new])
        self.history.append({"round": index, "nll": nll, "acq": value, "n": len(self.X)})
        return self.history[-1]


def main():
    torch.manual_seed(CFG["seed"])
    learner = ActiveLearner(CFG)
    t0 = time.time()
    with tempfile.TemporaryDirectory() as out:
        for r in range(CFG["rounds"]):
            row = learner.run_round(r)
            print(f"round {r:2d} n={row['n']} nll={row['nll']:.3f} acq={row['acq']:.5f} "
                  f"calls={learner.calls} {time.time() - t0:.1f}s", flush=True)
            with open(os.path.join(out, "history.json"), "w") as f:
                json.dump(learner.history, f)
            if time.time() - t0 > CFG["max_seconds"]:
                break
    print(f"collected {len(learner.X)} points in {learner.calls} acquisition calls")


if __name__ == "__main__":
    main()
