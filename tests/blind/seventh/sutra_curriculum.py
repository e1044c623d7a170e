# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Pre-trains a small character language model on transliterated palm-leaf manuscripts.

Leaves are short at first: the block length rises as training goes on, up to the longest leaf. Gradients are accumulated
over micro-batches, and a running average of the weights starts after the warm-up and is used for the evaluations.
"""
import copy
import json
import logging
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("sutra")


@dataclass
class RunConfig:
    vocab: int = 120 if SMALL else 4096
    hidden: int = 48 if SMALL else 640
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 10
    shortest: int = 8 if SMALL else 64
    longest: int = 32 if SMALL else 512
    ramp_steps: int = 24 if SMALL else 150
    steps: int = 40 if SMALL else 260
    average_from: int = 10 if SMALL else 60
    evaluate_every: int = 20 if SMALL else 65
    micro_batches: int = 2
    batch: int = 2 if SMALL else 8
    lr: float = 4e-4
    decay: float = 0.995


class PalmLeaves:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = torch.Generator().manual_seed(9)
        self.transitions = torch.softmax(torch.randn(cfg.vocab, 16, generator=self.rng), dim=-1)

    def batch(self, length):
        """A cheap Markov chain over characters."""
        state = torch.randint(self.cfg.vocab, (self.cfg.batch,), generator=self.rng)
        moves = torch.multinomial(self.transitions.mean(0), self.cfg.batch * length, True, generator=self.rng)
        steps = moves.view(self.cfg.batch, length).cumsum(dim=1)
        return ((state[:, None] + steps) % self.cfg.vocab).to(DEVICE)


class WeightAverage:
    def __init__(self, model, decay):
        self.decay = decay
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.model.eval()

    @torch.no_grad()
    def update(self, model):
        mine, theirs = list(self.model.parameters()), list(model.parameters())
        torch._foreach_lerp_(mine, theirs, 1 - self.decay)


class PreTraining:
    def __init__(self, cfg):
        self.cfg = cfg
        config = LlamaConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=int(2.7 * cfg.hidden), num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads, num_key_value_heads=cfg.heads, max_position_embeddings=cfg.longest,
            use_cache=False)
        self.model = LlamaForCausalLM(config).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, betas=(0.9, 0.95))
        self.leaves = PalmLeaves(cfg)
        self.average = None
        self.curve = []
        self.allocated = []

    def block_length(self, step):
        share = min(1.0, step / self.cfg.ramp_steps)
        length = self.cfg.shortest + share * (self.cfg.longest - self.cfg.shortest)
        return int(length) // 8 * 8

    def train_step(self, step):
        length = self.block_length(step)
        self.model.train()
        total = 0.0
        for _ in range(self.cfg.micro_batches):
            leaves = self.leaves.batch(length)
            loss = self.model(input_ids=leaves, labels=leaves).loss / self.cfg.micro_batches
            loss.backward()
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.average is not None:
            self.average.update(self.model)
        elif step >= self.cfg.average_from:
            self.average = WeightAverage(self.model, self.cfg.decay)
        return length, float(total)

    @torch.no_grad()
    def evaluate(self):
        model = self.average.model if self.average is not None else self.model
        losses = []
        for length in (self.cfg.longest // 2, self.cfg.longest):
            leaves = self.leaves.batch(length).repeat(4, 1)
            losses.append(model(input_ids=leaves, labels=leaves).loss.item())
        return losses

    def run(self):
        started = time.time()
        for step in range(self.cfg.steps):
            length, loss = self.train_step(step)
            self.curve.append((step, length, loss))
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if (step + 1) % self.cfg.evaluate_every == 0:
                half, full = self.evaluate()
                log.info("step %3d  block %3d  train %.3f  held-out %.3f / %.3f  bits %.2f  %.0f s", step + 1, length, loss, half,
                         full, full / math.log(2), time.time() - started)


def main():
    torch.manual_seed(27)
    training = PreTraining(RunConfig())
    log.info("%.1f M parameters", sum(p.numel() for p in training.model.parameters()) / 1e6)
    training.run()
    stride = len(training.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": training.allocated[::stride], "rounds": training.cfg.steps}), file=sys.stderr)
    return training


if __name__ == "__main__":
    result = main()
