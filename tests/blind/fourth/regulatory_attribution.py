# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Explains a promoter activity model with rescale attributions and distils the found sites into a motif scanner."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class StudyConfig:
    length: int = 64 if SMALL else 2048
    width: int = 8 if SMALL else 256
    depth: int = 3 if SMALL else 6
    tracks: int = 4 if SMALL else 48
    sequences: int = 8 if SMALL else 512
    attribution_batch: int = 4 if SMALL else 64
    motifs: int = 8 if SMALL else 384
    motif_length: int = 7 if SMALL else 25
    scanner_batch: int = 4 if SMALL else 128
    scanner_steps: int = 6 if SMALL else 500
    lr: float = 2e-3
    seed: int = 29


class ResidualConv(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(width, width, kernel_size=3, dilation=dilation, padding=dilation)
        self.act = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.act(self.conv(x))


class PromoterNet(nn.Module):
    """Dilated convolutions over one-hot DNA, one activity value per track."""

    def __init__(self, cfg: StudyConfig) -> None:
        super().__init__()
        self.stem = nn.Conv1d(4, cfg.width, kernel_size=15, padding=7)
        self.stem_act = nn.ReLU()
        self.body = nn.Sequential(*[ResidualConv(cfg.width, 2**i) for i in range(cfg.depth)])
        self.head = nn.Linear(cfg.width, cfg.tracks)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.body(self.stem_act(self.stem(x)))
        return self.head(hidden.mean(dim=-1))


class SequencePool:
    def __init__(self, cfg: StudyConfig) -> None:
        generator = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        codes = torch.randint(4, (cfg.sequences, cfg.length), generator=generator, device=DEVICE)
        self.cfg = cfg
        self.onehot = F.one_hot(codes, 4).transpose(1, 2).to(torch.uint8).contiguous()

    def rows(self, index: Tensor) -> Tensor:
        return self.onehot[index].float()

    def reference(self, rows: Tensor) -> Tensor:
        """Shuffled positions keep the base composition of each row."""
        order = torch.rand(rows.shape[0], rows.shape[-1], device=rows.device).argsort(dim=-1)
        return rows.gather(2, order[:, None].expand_as(rows))


class RescaleAttribution:
    """Difference-from-reference attributions: nonlinear modules get the slope of their input and output differences."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.nonlinear = [module for module in model.modules() if isinstance(module, nn.ReLU)]

    @staticmethod
    def _keep_input(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        module.input = inputs[0].detach()

    @staticmethod
    def _keep_output(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        module.output = output.detach()

    @staticmethod
    def _rescale(module: nn.Module, grad_input: tuple[Tensor, ...], grad_output: tuple[Tensor, ...]) -> tuple[Tensor]:
        half = module.input.shape[0] // 2
        delta_in = module.input[:half] - module.input[half:]
        delta_out = module.output[:half] - module.output[half:]
        slope = torch.where(delta_in.abs() > 1e-6, delta_out / delta_in, torch.zeros_like(delta_in))
        slope = torch.cat([slope, slope])
        plain = torch.cat([delta_in, delta_in]).abs() <= 1e-6
        return (torch.where(plain, grad_input[0], grad_output[0] * slope),)

    @contextmanager
    def hooks(self) -> Iterator[None]:
        handles = []
        for module in self.nonlinear:
            handles.append(module.register_forward_pre_hook(self._keep_input))
            handles.append(module.register_forward_hook(self._keep_output))
            handles.append(module.register_full_backward_hook(self._rescale))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def attribute(self, rows: Tensor, reference: Tensor, track: int) -> Tensor:
        inputs = torch.cat([rows, reference]).requires_grad_(True)
        with self.hooks():
            score = self.model(inputs)[:, track].sum()
            (gradient,) = torch.autograd.grad(score, inputs)
        half = rows.shape[0]
        return (gradient[:half] * (rows - reference)).sum(dim=1)


class MotifScanner(nn.Module):
    """Small student that shall reproduce activity and attributed positions at once."""

    def __init__(self, cfg: StudyConfig) -> None:
        super().__init__()
        self.motifs = nn.Conv1d(4, cfg.motifs, kernel_size=cfg.motif_length, padding=cfg.motif_length // 2)
        self.where = nn.Conv1d(cfg.motifs, 1, kernel_size=1)
        self.activity = nn.Linear(cfg.motifs, cfg.tracks)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        found = F.softplus(self.motifs(x))
        return self.activity(found.mean(dim=-1)), self.where(found)[:, 0]


class PromoterStudy:
    def __init__(self, cfg: StudyConfig) -> None:
        self.cfg = cfg
        self.pool = SequencePool(cfg)
        self.teacher = PromoterNet(cfg).to(DEVICE).eval().requires_grad_(False)
        self.scanner = MotifScanner(cfg).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.scanner.parameters(), lr=cfg.lr)

    def explain(self) -> Tensor:
        explainer = RescaleAttribution(self.teacher)
        maps = []
        for index in torch.arange(self.cfg.sequences, device=DEVICE).split(self.cfg.attribution_batch):
            rows = self.pool.rows(index)
            maps.append(explainer.attribute(rows, self.pool.reference(rows), track=0))
        stacked = torch.cat(maps)
        return stacked / stacked.abs().amax(dim=-1, keepdim=True).clamp_min(1e-6)

    @torch.no_grad()
    def activities(self) -> Tensor:
        batches = torch.arange(self.cfg.sequences, device=DEVICE).split(self.cfg.scanner_batch)
        return torch.cat([self.teacher(self.pool.rows(index)) for index in batches])

    def scanner_step(self, activities: Tensor, maps: Tensor) -> float:
        index = torch.randint(self.cfg.sequences, (self.cfg.scanner_batch,), device=DEVICE)
        predicted, where = self.scanner(self.pool.rows(index))
        loss = F.mse_loss(predicted, activities[index]) + 0.5 * F.mse_loss(where, maps[index])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main() -> None:
    cfg = StudyConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        study = PromoterStudy(cfg)
        maps = study.explain()
        activities = study.activities()
        print(f"explained {maps.shape[0]} sequences, strongest position {int(maps.abs().mean(0).argmax())}")
        for step in range(cfg.scanner_steps):
            loss = study.scanner_step(activities, maps)
            allocated.append(torch.cuda.memory_allocated())
            if step % 40 == 0:
                print(f"scanner step {step:3d}  loss {loss:.4f}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
